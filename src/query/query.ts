import type { KeyValue } from '../keys/index.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { QueryCommand } from '../plan/query-command.js'
import { compileWhere } from './compile-where.js'
import { explainQuery, type QueryExplanation } from './explain-query.js'
import { findRecords } from './find-records.js'
import { planQuery, type QueryPlan, type Wanted } from './plan-query.js'
import { badCount, tooMany } from './query-errors.js'
import type { QuerySource } from './query-source.js'
import type { ValueName, Where } from './where.js'

/** Everything that was said about a query so far. */
export interface QueryState extends Wanted {
  readonly only?: readonly string[]
  readonly limit?: number
  /** Relations to load along; only sessions do. */
  readonly paths: readonly string[]
}

/** How many entities `toArray` holds unless told. */
const MOST = 10_000

export const NEW_QUERY: QueryState = Object.freeze({ terms: [], isScan: false, paths: [] })

/**
 * A question for the records of one class. Each call gives a new query and leaves this one as it is; nothing is sent before it is
 * iterated over, or asked for with `toArray`, `first`, `count` and the like.
 *
 * @example
 * for await (const listing of db.query(Listing).where({ city: 'Bern', price: { lt: 500 } })) console.log(listing.id)
 */
export class Query<T extends object> implements AsyncIterable<T> {
  protected readonly source: QuerySource<T>
  protected readonly state: QueryState

  /** @internal */
  constructor(source: QuerySource<T>, state: QueryState = NEW_QUERY) {
    this.source = source
    this.state = state
  }

  /** Conditions that must all hold, beside those given before. */
  where(conditions: Where<T>): this {
    const { model, fields } = this.source
    return this.derive({ terms: [...this.state.terms, ...compileWhere(model, fields, conditions)] })
  }

  /** Allows the whole set to be read where no index answers. */
  scan(): this {
    return this.derive({ isScan: true })
  }

  /** Reads only these properties (and the key and version); the others are `undefined`. */
  only(...properties: readonly ValueName<T>[]): this {
    this.source.checkOnly(properties)
    return this.derive({ only: properties })
  }

  /** At most so many entities, whichever the server finds first. */
  limit(count: number): this {
    checkCount('limit', count)
    return this.derive({ limit: Math.min(count, this.state.limit ?? Infinity) })
  }

  /** The entities one after the other, in bounded memory: the next are read when these have been taken. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { signal } = this.source.options
    for await (const entities of this.steps()) {
      for (const entity of entities) {
        yield entity
        signal?.throwIfAborted()
      }
    }
  }

  /** All entities at once; throws when there are more than `max`, which is 10,000 unless given. */
  async toArray({ max = MOST }: { readonly max?: number } = {}): Promise<T[]> {
    const found: T[] = []
    for await (const entities of this.atMost(max).steps()) found.push(...entities)
    if (found.length > max) throw tooMany(this.source.model, max)
    return found
  }

  /** Some entity that meets the conditions, or null. */
  async first(): Promise<T | null> {
    const [found] = await this.derive({ limit: 1 }).toArray()
    return found ?? null
  }

  /** How many records meet the conditions; they are counted here, but no bins are sent. */
  async count(): Promise<number> {
    let count = 0
    for await (const records of this.records(this.leastBins)) count += records.length
    return count
  }

  async exists(): Promise<boolean> {
    return (await this.derive({ limit: 1 }).count()) > 0
  }

  /** The keys, without the rest of the records; throws when there are more than `max`, which is 10,000 unless given. */
  async keys({ max = MOST }: { readonly max?: number } = {}): Promise<KeyValue[]> {
    const found: KeyValue[] = []
    for await (const records of this.atMost(max).records(this.source.keyBins)) {
      for (const record of records) found.push(this.source.keyOf(record))
    }
    if (found.length > max) throw tooMany(this.source.model, max)
    return found
  }

  /** Which index is used, what else the server does, and what is done here; nothing is sent. */
  explain(): QueryExplanation {
    const plan = this.plan()
    return explainQuery(plan, plan.command(this.bins), this.doneHere())
  }

  protected derive(changes: Partial<QueryState>): this {
    const own = this.constructor as new (source: QuerySource<T>, state: QueryState) => Query<T>
    return new own(this.source, { ...this.state, ...changes }) as this
  }

  /** One more than is wanted tells that there are too many. */
  private atMost(max: number): this {
    checkCount('max', max)
    const { limit = Infinity } = this.state
    return limit <= max ? this : this.derive({ limit: max + 1 })
  }

  protected async *steps(): AsyncGenerator<readonly T[]> {
    const { only, paths } = this.state
    for await (const records of this.records(this.bins)) yield await this.source.take(records, only, paths)
  }

  protected records(bins: QueryCommand['bins']): AsyncGenerator<readonly FoundRecord[]> {
    return findRecords(this.source, this.plan(), bins, this.state.limit)
  }

  protected plan(): QueryPlan {
    const { model, always, statistics } = this.source
    return planQuery(model, always, this.state, statistics)
  }

  protected doneHere(): string[] {
    const { isCheckedByKey, model } = this.source
    return isCheckedByKey ? [`leaves out the records of other tenants, which only their keys tell (${model.name})`] : []
  }

  private get bins(): QueryCommand['bins'] {
    return this.source.bins(this.state.only, this.state.paths)
  }

  /** No bins at all, unless a record's key has to be looked at. */
  private get leastBins(): QueryCommand['bins'] {
    return this.source.isCheckedByKey ? this.source.keyBins : 'none'
  }
}

export function checkCount(what: string, given: unknown): void {
  if (!Number.isSafeInteger(given) || (given as number) < 1) throw badCount(what, given)
}
