import { asFound, type Take } from '../driver/arrivals.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { QueryCommand } from '../plan/query-command.js'
import { queryIdentity } from './cursor.js'
import type { Field } from './field.js'
import { findRecords } from './find-records.js'
import { planQuery, type QueryPlan, type Wanted } from './plan-query.js'
import { limitedPage, orderWithoutLimit } from './query-errors.js'
import { recordPage, type RecordPage } from './query-page.js'
import type { QuerySource } from './query-source.js'
import { orScan, scanInstead } from './scan-instead.js'
import { fromPosition, sortedAfter, sortedPage, sortedRecords } from './sorted-records.js'
import type { SortBy } from './stored-order.js'

/** Everything that was said about a query so far. */
export interface QueryState extends Wanted {
  readonly only?: readonly string[]
  readonly limit?: number
  readonly order: readonly SortBy[]
  /** Relations to load along; only sessions do. */
  readonly paths: readonly string[]
}

/** Sends a query, in the way that its order and limit ask for. */
export class QueryRun<T extends object> {
  readonly #source: QuerySource<T>
  readonly #state: QueryState
  readonly #isAwaited: boolean

  /** `isAwaited`: closing the database waits for all of it, and not only for the step that is being read. */
  constructor(source: QuerySource<T>, state: QueryState, isAwaited = true) {
    this.#isAwaited = isAwaited
    this.#source = source
    this.#state = state
  }

  get plan(): QueryPlan {
    return this.#plan(this.#state)
  }

  /** The bins that entities are made of. */
  get bins(): QueryCommand['bins'] {
    return this.#source.bins(this.#state.only, this.#state.paths)
  }

  /** The records, in their order where there is one. */
  records(bins: QueryCommand['bins']): AsyncGenerator<readonly FoundRecord[]> {
    return this.taken(bins, asFound)
  }

  /** Results of `take` for each record, in the order of the records. */
  async *taken<R>(bins: QueryCommand['bins'], take: Take<R>): AsyncGenerator<readonly R[]> {
    const { order, limit } = this.#state
    if (order.length === 0) {
      yield* this.#found(await this.#learned(this.#state), bins, take, limit)
      return
    }
    if (limit === undefined) throw orderWithoutLimit(this.#source.model)
    const plan = await this.#learned(this.#state)
    const sorted = await sortedRecords(this.#found(plan, this.#withOrder(bins), asFound, undefined), order, limit)
    if (sorted.length > 0) yield sorted.map(take)
  }

  /** As many as there are records, which are sent without their bins unless their keys have to be looked at. */
  least(): AsyncGenerator<readonly true[]> {
    return this.taken(this.#source.isCheckedByKey ? this.#source.keyBins : 'none', () => true)
  }

  /** The records with nothing but these fields. */
  fields(fields: readonly Field[]): AsyncGenerator<readonly FoundRecord[]> {
    const { isCheckedByKey, keyBins } = this.#source
    // Reads a bin that every record has: the server sends no row for a record that has none of the bins, but counts it.
    const [always] = keyBins
    const bins = new Set([...fields.map(({ bin }) => bin), ...(isCheckedByKey ? keyBins : [always])])
    return this.records([...bins])
  }

  /** The records that follow a cursor. */
  async page(count: number, after: string | undefined): Promise<RecordPage> {
    const { order, limit } = this.#state
    const source = this.#source
    if (limit !== undefined) throw limitedPage(source.model)
    const sorting = order.map(({ field, direction }) => `${field.path} ${direction}`).join()
    const identity = queryIdentity(source.model, source.always, this.#state.terms, source.tenant, sorting)
    if (order.length > 0) return this.#sortedPage(count, after, identity)
    source.begin()
    try {
      const plan = await this.#learned(this.#state)
      return await orScan(plan, (each) => recordPage(source, each, identity, this.bins, count, after))
    } finally {
      source.end()
    }
  }

  async #sortedPage(count: number, after: string | undefined, identity: string): Promise<RecordPage> {
    const { order, terms } = this.#state
    const position = after === undefined ? undefined : sortedAfter(after, identity, this.#source)
    const left = position === undefined ? terms : [...terms, fromPosition(position, order)]
    const plan = await this.#learned({ ...this.#state, terms: left })
    const found = this.#found(plan, this.#withOrder(this.bins), asFound, undefined)
    const records = await sortedRecords(found, order, count + 1, position)
    return sortedPage(records, order, count, identity)
  }

  async *#found<R>(
    plan: QueryPlan,
    bins: QueryCommand['bins'],
    take: Take<R>,
    limit: number | undefined,
  ): AsyncGenerator<readonly R[]> {
    let isBegun = false
    try {
      for await (const records of findRecords(this.#source, plan, bins, take, limit, this.#isAwaited)) {
        isBegun = true
        yield records
      }
    } catch (error) {
      const scan = isBegun ? undefined : scanInstead(plan, error)
      if (scan === undefined) throw error
      yield* findRecords(this.#source, scan, bins, take, limit, this.#isAwaited)
    }
  }

  /** The plan with what the server tells of the indexes, which it is asked only where there is a choice. */
  async #learned(wanted: Wanted): Promise<QueryPlan> {
    const plan = this.#plan(wanted)
    if (plan.choice === undefined || plan.others.length === 0 || plan.isNever) return plan
    await this.#source.learn([plan.choice, ...plan.others].map(({ index }) => index))
    return this.#plan(wanted)
  }

  #plan(wanted: Wanted): QueryPlan {
    return planQuery(this.#source, wanted)
  }

  /** Adds the bins that are sorted by. */
  #withOrder(bins: QueryCommand['bins']): QueryCommand['bins'] {
    const sorted = this.#state.order.map(({ field }) => field.bin)
    if (bins === 'all') return bins
    return [...new Set([...(bins === 'none' ? [] : bins), ...sorted])]
  }
}
