import type { KeyValue } from '../keys/index.js'
import { DELETING_BIN } from '../model/index.js'
import { binExists, not } from '../plan/expression.js'
import type { FoundRecord } from '../plan/outcome.js'
import { query, type QueryCommand } from '../plan/query-command.js'
import type { FoundPage, FoundStep, Tracked } from '../relations/contributor.js'
import type { IndexedBy } from '../relations/index-lookup.js'
import { isDirty } from './dirty.js'
import { arrivalOf, arrive } from './arrival.js'
import { foundKey } from './found-key.js'
import { isInsideHook } from './hooks.js'
import type { Hydrator } from './hydrator.js'
import { queryInTransaction } from './inside-transaction.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { projectionOf, type Projection } from './projection.js'
import type { SessionContext } from './session-context.js'

/** A record whose cascading delete has begun is found by nobody. */
const NOT_DELETING = not(binExists(DELETING_BIN))

/** Finds entities by an index, within one session. */
export class SessionQueries {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator

  constructor(context: SessionContext, hydrator: Hydrator) {
    this.#context = context
    this.#hydrator = hydrator
  }

  async *found(lookup: IndexedBy): AsyncGenerator<FoundStep> {
    this.#check(lookup)
    const mapped = this.#context.classes.of(lookup.model.name)
    const projection = projectionOf(mapped)
    for await (const records of this.#context.driver.query(commandOf(lookup, projection.bins))) {
      yield await this.#take(mapped, records, projection)
    }
  }

  async *keys(lookup: IndexedBy): AsyncGenerator<readonly KeyValue[]> {
    this.#check(lookup)
    const { classes, driver, identity } = this.#context
    const mapped = classes.of(lookup.model.name)
    const bins = [...mapped.codec.binsOf([])]
    for await (const records of driver.query(commandOf(lookup, bins))) {
      yield records.flatMap((record) => foundKey(mapped, record, identity.tenant)?.key ?? [])
    }
  }

  async page(lookup: IndexedBy, count: number, after?: string): Promise<FoundPage> {
    this.#check(lookup)
    const mapped = this.#context.classes.of(lookup.model.name)
    const projection = projectionOf(mapped)
    const { records, next } = await this.#context.driver.queryPage(commandOf(lookup, projection.bins), count, { after })
    const { found } = await this.#take(mapped, records, projection)
    return { found, next }
  }

  /** Entities without changes; the others stay until they are flushed. */
  release(entities: readonly Tracked[]): void {
    for (const managed of entities as readonly Managed[]) {
      if (managed.state === 'stored' && managed.turn === undefined && !isDirty(managed)) managed.home.remove(managed)
    }
  }

  #check({ model, index }: IndexedBy): void {
    if (this.#context.refusesQueries === true) throw queryInTransaction(model, index)
  }

  async #take(mapped: MappedClass, records: readonly FoundRecord[], projection: Projection): Promise<FoundStep> {
    const { identity } = this.#context
    const found: Managed[] = []
    const fresh: Managed[] = []
    const leaving: Managed[] = []
    for (const record of records) {
      const key = foundKey(mapped, record, identity.tenant)
      if (key === undefined) continue
      const known = identity.get(mapped, key.record.key)
      const managed = this.#hydrator.take(mapped, key.record, record, projection, known)
      if (managed === null) continue
      if (managed.state === 'removed') {
        leaving.push(managed)
        continue
      }
      found.push(managed)
      if (known === undefined) fresh.push(managed)
    }
    const arrivals = isInsideHook(identity) ? [] : found.map(arrivalOf)
    await Promise.all([...arrivals, ...fresh.map(arrive)])
    return { found, fresh, leaving }
  }
}

function commandOf({ model, index, value, marked }: IndexedBy, bins: QueryCommand['bins']): QueryCommand {
  const { name: entity, namespace, set } = model
  const { name, bin, on } = index
  return query({
    entity,
    namespace,
    set,
    index: { name, bin, on, value },
    bins,
    ...(marked ? {} : { filter: NOT_DELETING }),
  })
}
