import type { KeyValue } from '../keys/index.js'
import { checkChoice } from '../model/call-options.js'
import type { Collection, CollectionProperty, Page } from '../model/index.js'
import { ItemStream } from './item-stream.js'
import { aggregate, averageOf, extremeOf, sumOf, type Aggregate } from './aggregate.js'
import { compileHas, compileWhere } from './compile-where.js'
import { explainQuery, type QueryExplanation } from './explain-query.js'
import { comparableField, groupField, isBigintField, numberField } from './field-checks.js'
import { compileFilter } from './filter.js'
import type { Filter, FilterFields } from './filter-types.js'
import type { GroupKey } from './group-key.js'
import { Groups, type GroupedQuery, type SumOf } from './groups.js'
import { checkCount, checkSample, tooMany } from './query-errors.js'
import { mostOf, pageOptions, type Most, type PageOptions } from './query-calls.js'
import { QueryRun, type QueryState } from './query-run.js'
import type { QuerySource } from './query-source.js'
import { sampleTerm } from './sample.js'
import type { Direction } from './stored-order.js'
import type { GroupName, NumberName, OrderedName, Target, ValueName, Where } from './where.js'

const NEW_QUERY: QueryState = Object.freeze({ terms: [], isScan: false, paths: [], order: [] })

/**
 * A query for the records of one class. Each call gives a new query and leaves this one as it is; nothing is sent before it is
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

  /**
   * A condition with `and`, `or`, `not` and arithmetic, beside those given before.
   *
   * @example
   * db.query(Listing).where({ city: 'Bern' }).filter((l) => l.rooms.gt(3).or(l.price.dividedBy(l.size).lt(10)))
   */
  filter(build: (fields: FilterFields<T>) => Filter): this {
    const { model, fields } = this.source
    return this.derive({ terms: [...this.state.terms, ...compileFilter(model, fields, build)] })
  }

  /**
   * Only records whose collection has this member: the inverse of a list of keys. `@Index` on the collection answers it.
   *
   * @example
   * const fans = await db.query(User).whereHas('follows', bob).toArray()
   */
  whereHas<R extends CollectionProperty<T> & keyof T>(relation: R, member: MemberOf<T[R]>): this {
    return this.has(relation as string, member, false)
  }

  /** Only records whose collection has any of these members. */
  whereHasAny<R extends CollectionProperty<T> & keyof T>(relation: R, members: readonly MemberOf<T[R]>[]): this {
    return this.has(relation as string, members, true)
  }

  /** Allows the whole set to be read where no index answers. */
  scan(): this {
    return this.derive({ isScan: true })
  }

  /** About this share of the records, always the same ones: 0.01 is one of a hundred. */
  sample(share: number): this {
    checkSample(share)
    return this.derive({ terms: [...this.state.terms, sampleTerm(share)] })
  }

  /** Reads only these properties (and the key and version); the others are `undefined`. */
  only(...properties: readonly ValueName<T>[]): this {
    this.source.checkOnly(properties)
    return this.derive({ only: properties })
  }

  /** At most so many entities: the first in the order, or whichever the server finds first. */
  limit(count: number): this {
    checkCount('limit', count)
    return this.derive({ limit: Math.min(count, this.state.limit ?? Infinity) })
  }

  /** Sorts, here and in bounded memory: needs a limit, or is read in pages. What is not stored comes last. */
  orderBy(property: OrderedName<T>, direction: Direction = 'asc'): this {
    const { field } = comparableField(this.source, property)
    checkChoice('direction', direction, ['asc', 'desc'])
    return this.derive({ order: [...this.state.order, { field, direction }] })
  }

  /** The entities one after the other, in bounded memory: the next are read when these have been taken. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const steps = this.steps(false)
    return new ItemStream(
      () => this.next(steps),
      () => steps.return(undefined),
      this.source.options.signal,
    )
  }

  /** Only the step is waited for when the database closes: whoever closes it between two entities would wait for itself. */
  private async next(steps: AsyncGenerator<readonly T[]>): Promise<IteratorResult<readonly T[]>> {
    this.source.begin()
    try {
      return await steps.next()
    } finally {
      this.source.end()
    }
  }

  /** All entities at once; throws when there are more than `max`, which is 10,000 unless given. */
  async toArray(options: Most = {}): Promise<T[]> {
    const max = mostOf('toArray()', options)
    const found: T[] = []
    for await (const entities of this.atMost(max).steps()) found.push(...entities)
    if (found.length > max) throw tooMany(this.source.model, max, 'toArray')
    return found
  }

  /**
   * `count` entities that follow a cursor, which is the `next` of the page before. Whatever stays is seen exactly once, while others come
   * and go. A cursor is a short text that any process can go on with.
   */
  async page(options: PageOptions): Promise<Page<T>> {
    const { count, after } = pageOptions(options)
    const { only, paths } = this.state
    const { records, next } = await this.run.page(count, after)
    const entities = await this.source.take(records, only, paths)
    return Object.assign([...entities], next === undefined ? {} : { next })
  }

  /** Some entity that meets the conditions, or null; in an order, the first. */
  async first(): Promise<T | null> {
    const [found] = await this.derive({ limit: 1 }).toArray()
    return found ?? null
  }

  /** Number of records that meet the conditions; they are counted here, but no bins are sent. */
  async count(): Promise<number> {
    let count = 0
    for await (const records of this.unordered.least()) count += records.length
    return count
  }

  async exists(): Promise<boolean> {
    return (await this.derive({ limit: 1 }).count()) > 0
  }

  /** The keys, without the rest of the records; throws when there are more than `max`, which is 10,000 unless given. */
  async keys(options: Most = {}): Promise<KeyValue[]> {
    const max = mostOf('keys()', options)
    const found: KeyValue[] = []
    const { keyBins } = this.source
    for await (const keys of this.atMost(max).run.taken(keyBins, (record) => this.source.keyOf(record)))
      found.push(...keys)
    if (found.length > max) throw tooMany(this.source.model, max, 'keys')
    return found
  }

  /** The sum of a property; nothing sums up to 0. */
  sum<P extends NumberName<T> & keyof T>(property: P): Promise<SumOf<T[P]>> {
    const field = numberField(this.source, property)
    return this.aggregate(property, sumOf(isBigintField(field))) as Promise<SumOf<T[P]>>
  }

  /** The average of a property, or null where it is nowhere stored. */
  avg(property: NumberName<T>): Promise<number | null> {
    numberField(this.source, property)
    return this.aggregate(property, averageOf())
  }

  /** The smallest value, or null where none is stored; `NaN` is left out. */
  min<P extends OrderedName<T> & keyof T>(property: P): Promise<NonNullable<T[P]> | null> {
    return this.aggregate(
      property,
      extremeOf(comparableField(this.source, property).decode, false),
    ) as Promise<NonNullable<T[P]> | null>
  }

  /** The largest value, or null where none is stored; `NaN` is left out. */
  max<P extends OrderedName<T> & keyof T>(property: P): Promise<NonNullable<T[P]> | null> {
    return this.aggregate(
      property,
      extremeOf(comparableField(this.source, property).decode, true),
    ) as Promise<NonNullable<T[P]> | null>
  }

  /**
   * Groups by the values of a property; a list counts under each of its members. Throws when there are more than `max` groups.
   * Groups are found by plain values: a date by its milliseconds, bytes as hexadecimal text, a reference by its key.
   *
   * @example
   * const cities = await db.scan(Listing).groupBy('city').count() // Map { 'Bern' => 2, 'Basel' => 1 }
   */
  groupBy<P extends GroupName<T> & keyof T>(property: P, options: Most = {}): Groups<T, GroupKey<NonNullable<T[P]>>> {
    const max = mostOf('groupBy()', options)
    const { model, fields } = this.source
    const query: GroupedQuery = { model, fields, records: (wanted) => this.values.fields(wanted) }
    return new Groups(query, groupField(this.source, property), max)
  }

  /** Explains which index is used, what else the server does, and what is done here; nothing is sent. */
  explain(): QueryExplanation {
    const { plan, bins } = this.run
    return explainQuery(plan, bins, this.doneHere())
  }

  /** @internal Copies the conditions of another query. */
  like(state: QueryState): this {
    return this.derive(state)
  }

  protected derive(changes: Partial<QueryState>): this {
    const own = this.constructor as new (source: QuerySource<T>, state: QueryState) => Query<T>
    return new own(this.source, { ...this.state, ...changes }) as this
  }

  protected doneHere(): string[] {
    const { order, limit } = this.state
    const sorting = order.map(({ field, direction }) => `${field.path} ${direction}`).join(', ')
    return [
      ...(this.source.isCheckedByKey
        ? ['leaves out the records of other tenants, which can be told only by their keys']
        : []),
      ...(sorting === '' ? [] : [`sorts by ${sorting} and keeps ${limit ?? 'a page'}`]),
    ]
  }

  protected get run(): QueryRun<T> {
    return new QueryRun(this.source, this.state)
  }

  private async *steps(isAwaited = true): AsyncGenerator<readonly T[]> {
    const { only, limit = Infinity } = this.state
    const run = new QueryRun(this.source, { ...this.state, limit: limitWith(this.source.leaving, limit) }, isAwaited)
    const take = this.source.taking(only)
    let left = limit
    for await (const entities of take === undefined ? this.together(run) : run.taken(run.bins, take)) {
      yield entities.length > left ? entities.slice(0, left) : entities
      left -= Math.min(left, entities.length)
      if (left === 0) return
    }
  }

  private async *together(run: QueryRun<T>): AsyncGenerator<readonly T[]> {
    const { only, paths } = this.state
    for await (const records of run.records(run.bins)) yield await this.source.take(records, only, paths)
  }

  /** Asks for one more than is wanted, which tells that there are too many. */
  private atMost(max: number): this {
    const { limit = Infinity } = this.state
    return limit <= max ? this : this.derive({ limit: max + 1 })
  }

  /** For what does not depend on the order. */
  private get unordered(): QueryRun<T> {
    return this.state.order.length === 0 ? this.run : new QueryRun(this.source, { ...this.state, order: [] })
  }

  /** For results over values: where there is a limit, the order says of which records. */
  private get values(): QueryRun<T> {
    return this.state.limit === undefined ? this.unordered : this.run
  }

  private has(relation: string, given: unknown, isAny: boolean): this {
    const { model, members } = this.source
    return this.derive({ terms: [...this.state.terms, ...compileHas(model, members, relation, given, isAny)] })
  }

  private aggregate<R>(property: PropertyKey, into: Aggregate<R>): Promise<R> {
    const { field } = comparableField(this.source, property)
    return aggregate(this.values.fields([field]), field, into)
  }
}

type MemberOf<C> = NonNullable<C> extends Collection<infer M> ? Target<M> : never

/** Reads as many records as leave enough entities. */
const limitWith = (leaving: number, limit: number): number | undefined =>
  limit === Infinity ? undefined : limit + leaving
