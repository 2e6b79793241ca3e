import type { KeyValue } from '../../keys/index.js'
import { COMPANION_ROOT_BIN, type DeletedMode, type IndexModel } from '../../model/index.js'
import { read, shownBy, stillThere } from '../../plan/command.js'
import type { FoundRecord, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { changedWithin, query, type QueryCommand } from '../../plan/query-command.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import type { FoundPage, FoundStep } from '../../relations/contract/reader.js'
import type { FoundHomes, IndexedBy } from '../../relations/contract/index-lookup.js'
import { isHeldForChange } from '../../relations/state/held-for-change.js'
import { isDirty } from '../flush/collect/collect-changes.js'
import { addTotals } from '../counters/read-totals.js'
import { afterLoadOf, runAfterLoad } from './after-load.js'
import { COMPANION_KEY_BINS, companionIn, foundKey, ownerKey, type FoundKey } from './key-of-found.js'
import { isInsideHook } from '../tracking/lifecycle-hooks.js'
import type { Loads, ReaderOptions } from './loads.js'
import { queryInTransaction } from '../transaction/transaction-scope.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import { projectionOf, showing } from '../mapping/projection.js'
import { callOptions, type SessionContext } from '../context/session-context.js'

/** A record that was read, and its key. */
interface KeyedRecord {
  readonly key: RecordKey
  readonly record: StoredRecord
}

/** A query by an index of owners, or of a set of companions. */
interface Walk {
  readonly command: QueryCommand
  readonly companions: string | undefined
}

/** Finds entities by an index, within one session. */
export class IndexQueries {
  readonly #context: SessionContext
  readonly #loads: Loads
  readonly #deleted: DeletedMode | undefined
  readonly #isOwn: boolean

  constructor(context: SessionContext, loads: Loads, { deleted, isOwn = false }: ReaderOptions = {}) {
    this.#context = context
    this.#loads = loads
    this.#deleted = deleted
    this.#isOwn = isOwn
  }

  async *found(lookup: IndexedBy): AsyncGenerator<FoundStep> {
    this.#check(lookup)
    const mapped = this.#context.classes.of(lookup.model.name)
    const projection = showing(projectionOf(mapped, undefined, lookup.along), this.#deleted)
    const { moment } = this.#context.identity
    if (isApart(lookup)) {
      yield* this.#foundApart(mapped, lookup, projection)
      return
    }
    for await (const records of this.#context.driver.query(this.#command(lookup, projection.bins))) {
      yield await this.take(mapped, records, projection, moment)
    }
  }

  /** Owners are read once it is known whose children were found. */
  async *#foundApart(mapped: MappedClass, lookup: IndexedBy, projection: Projection): AsyncGenerator<FoundStep> {
    for await (const owners of this.#ownersBy(mapped, lookup)) {
      const { driver, identity } = this.#context
      const { moment } = identity
      const commands = owners.map(({ record }) => read(mapped.model.name, record, projection.bins))
      const records = await driver.read(commands, callOptions(this.#context))
      const keyed = owners.flatMap(({ record: key }, i): KeyedRecord[] => {
        const record = records[i]
        return record === null ? [] : [{ key, record }]
      })
      yield await this.takeKeyed(mapped, keyed, projection, moment)
    }
  }

  /** Each owner once: companions say whose they are. */
  async *#ownersBy(mapped: MappedClass, lookup: IndexedBy): AsyncGenerator<readonly FoundKey[]> {
    const { driver, identity } = this.#context
    const { homes } = lookup
    const seen = new Set<string>()
    for (const { command, companions } of this.#walks(mapped, lookup))
      for await (const records of driver.query(command)) {
        const owners = new Map<string, FoundKey>()
        for (const found of records) {
          const owner =
            companions === undefined
              ? foundKey(mapped, found, identity.tenant)
              : ownerKey(mapped, found.bins[COMPANION_ROOT_BIN], identity.tenant)
          if (owner === undefined) continue
          const id = recordId(owner.record)
          if (homes !== undefined) noteHome(homes, id, companionIn(found, companions!, mapped, identity.tenant)!.key)
          else if (seen.has(id)) continue
          seen.add(id)
          owners.set(id, owner)
        }
        yield [...owners.values()]
      }
  }

  /**
   * Queries for what an index finds, one after another. Children that move on demand are copied before they are taken out where they were: so owners
   * are asked before companions, and then once more those records that have changed meanwhile.
   */
  *#walks(mapped: MappedClass, lookup: IndexedBy): Generator<Walk> {
    const { index, apart } = lookup
    const walkOf = (each: IndexModel): Walk => {
      const bins = each.set === undefined ? [...mapped.codec.binsOf([])] : COMPANION_KEY_BINS
      return { command: this.#command({ ...lookup, index: each }, bins), companions: each.set }
    }
    const began = performance.now()
    yield walkOf(index)
    if (apart === undefined) return
    yield walkOf(apart)
    for (const walk of [walkOf(index), walkOf(apart)])
      yield { ...walk, command: changedWithin(walk.command, performance.now() - began) }
  }

  async *keys(lookup: IndexedBy): AsyncGenerator<readonly KeyValue[]> {
    this.#check(lookup)
    const { classes, driver, identity } = this.#context
    const mapped = classes.of(lookup.model.name)
    if (isApart(lookup)) {
      for await (const owners of this.#ownersBy(mapped, lookup)) yield owners.map(({ key }) => key)
      return
    }
    const bins = [...mapped.codec.binsOf([])]
    for await (const records of driver.query(this.#command(lookup, bins))) {
      yield records.flatMap((record) => foundKey(mapped, record, identity.tenant)?.key ?? [])
    }
  }

  async page(lookup: IndexedBy, count: number, after?: string): Promise<FoundPage> {
    this.#check(lookup)
    const mapped = this.#context.classes.of(lookup.model.name)
    const projection = showing(projectionOf(mapped), this.#deleted)
    const { moment } = this.#context.identity
    const { records, next } = await this.#context.driver.queryPage(this.#command(lookup, projection.bins), count, {
      after,
    })
    const { found } = await this.take(mapped, records, projection, moment)
    return { found, next }
  }

  /** Entities without changes; the others stay until they are flushed. */
  release(entities: readonly Tracked[]): void {
    for (const managed of entities as readonly ManagedEntity[]) {
      if (
        managed.state === 'stored' &&
        managed.queued === undefined &&
        !isHeldForChange(managed.entity) &&
        !isDirty(managed)
      )
        managed.home.remove(managed)
    }
  }

  #check({ model, index }: IndexedBy): void {
    if (this.#context.refusesQueries === true) throw queryInTransaction(model, index)
  }

  /** The entities of records that a query found: those of other tenants and classes are left out. */
  take(
    mapped: MappedClass,
    records: readonly FoundRecord[],
    projection: Projection,
    begun: number,
  ): Promise<FoundStep> {
    const { tenant } = this.#context.identity
    const keyed = records.flatMap((record): KeyedRecord[] => {
      const key = foundKey(mapped, record, tenant)
      return key === undefined ? [] : [{ key: key.record, record }]
    })
    return this.takeKeyed(mapped, keyed, projection, begun)
  }

  /** The entities of records whose keys are known, and which were read since that moment; what the session wrote meanwhile is read again. */
  async takeKeyed(
    mapped: MappedClass,
    keyed: readonly KeyedRecord[],
    projection: Projection,
    begun: number,
  ): Promise<FoundStep> {
    const { identity } = this.#context
    const records = mapped.shards === undefined ? keyed : await this.#withTotals(mapped, keyed, projection)
    const found: ManagedEntity[] = []
    const fresh: ManagedEntity[] = []
    const leaving: ManagedEntity[] = []
    const outdated: RecordKey[] = []
    for (const { key, record } of records) {
      const known = identity.get(mapped, key.key)
      if (known !== undefined && this.#isOutdated(known, begun)) {
        outdated.push(key)
        continue
      }
      const managed = this.#loads.hydrator.take(mapped, key, record, projection, known)
      if (managed === null) continue
      if (managed.shownState === 'removed') {
        leaving.push(managed)
        continue
      }
      found.push(managed)
      if (known === undefined) fresh.push(managed)
    }
    if (outdated.length > 0)
      for (const managed of await this.#loads.again(mapped, outdated, projection))
        if (managed !== null) found.push(managed)
    const hooks = isInsideHook(identity) ? [] : found.map(afterLoadOf)
    await Promise.all([...hooks, ...fresh.map(runAfterLoad)])
    return { found, fresh, leaving }
  }

  #isOutdated(known: ManagedEntity, begun: number): boolean {
    if (known.loaded === undefined || this.#isOwn) return false
    return known.wasWrittenSince(begun) || this.#context.identity.writes?.endOfWrite(known) !== undefined
  }

  async #withTotals(
    mapped: MappedClass,
    keyed: readonly KeyedRecord[],
    { loaded }: Projection,
  ): Promise<readonly KeyedRecord[]> {
    const keys = keyed.map(({ key }) => key)
    const found = keyed.map(({ record }) => record)
    const { driver } = this.#context
    const records = await addTotals(driver, mapped, found, keys, loaded, callOptions(this.#context))
    return keys.map((key, i) => ({ key, record: records[i] }))
  }

  /** A record whose cascading delete has begun is found by nobody, one that was deleted softly by those who ask for it. */
  #command({ model, index, value, marked }: IndexedBy, bins: QueryCommand['bins']): QueryCommand {
    const { name: entity, namespace } = model
    const { name, bin, on, set = model.set } = index
    const filter = marked ? shownBy(model, this.#deleted) : stillThere(model, this.#deleted)
    return query({ entity, namespace, set, index: { name, bin, on, value }, bins, ...(filter && { filter }) })
  }
}

function noteHome(homes: FoundHomes, owner: string, home: RecordKey): void {
  const known = homes.get(owner)
  if (known === undefined) homes.set(owner, [home])
  else known.push(home)
}

/** True where companions hold what the index is about, or may. */
const isApart = ({ index, apart }: IndexedBy): boolean => index.set !== undefined || apart !== undefined
