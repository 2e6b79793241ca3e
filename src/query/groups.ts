import type { EntityModel } from '../model/index.js'
import type { FoundRecord } from '../plan/outcome.js'
import { aggregateGroups, averageOf, countValues, extremeOf, sumOf, type Aggregate } from './aggregate.js'
import type { Field } from './field.js'
import { comparableField, isBigintField, numberField } from './field-checks.js'
import type { NumberName, OrderedName } from './where.js'

/** Parts of a query that grouping needs. */
export interface GroupedQuery {
  readonly model: EntityModel
  readonly fields: ReadonlyMap<string, Field>
  /** Reads the records with nothing but these fields. */
  records(fields: readonly Field[]): AsyncIterable<readonly FoundRecord[]>
}

/** The sum of bigints is a bigint. */
export type SumOf<V> = NonNullable<V> extends bigint ? bigint : number

/** A query whose records are put into groups by a property; `null` is the group of those where it is not stored. */
export class Groups<T extends object, K> {
  readonly #query: GroupedQuery
  readonly #by: Field
  readonly #max: number

  /** @internal */
  constructor(query: GroupedQuery, by: Field, max: number) {
    this.#query = query
    this.#by = by
    this.#max = max
  }

  /** Number of records in each group. */
  count(): Promise<Map<K | null, number>> {
    return this.#aggregate(undefined, countValues)
  }

  /** The sum of a property in each group; nothing sums up to 0. */
  sum<P extends NumberName<T> & keyof T>(property: P): Promise<Map<K | null, SumOf<T[P]>>> {
    const field = numberField(this.#query, property)
    return this.#aggregate(field, () => sumOf(isBigintField(field)) as Aggregate<SumOf<T[P]>>)
  }

  avg(property: NumberName<T>): Promise<Map<K | null, number | null>> {
    return this.#aggregate(numberField(this.#query, property), averageOf)
  }

  min<P extends OrderedName<T> & keyof T>(property: P): Promise<Map<K | null, NonNullable<T[P]> | null>> {
    return this.#extreme(property, false)
  }

  max<P extends OrderedName<T> & keyof T>(property: P): Promise<Map<K | null, NonNullable<T[P]> | null>> {
    return this.#extreme(property, true)
  }

  #extreme<V>(property: PropertyKey, isMax: boolean): Promise<Map<K | null, V | null>> {
    const { field, decode } = comparableField(this.#query, property)
    return this.#aggregate(field, () => extremeOf(decode, isMax) as Aggregate<V | null>)
  }

  #aggregate<R>(field: Field | undefined, start: () => Aggregate<R>): Promise<Map<K | null, R>> {
    const records = this.#query.records(field === undefined ? [this.#by] : [this.#by, field])
    return aggregateGroups(records, this.#by, field, start, this.#max, this.#query.model)
  }
}
