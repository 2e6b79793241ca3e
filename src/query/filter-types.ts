import type { Ref } from '../model/index.js'
import type { ConditionProperty, Target } from './where.js'

/** A condition that is put together of others. Nothing is evaluated here: the server decides. */
export interface Filter {
  and(...others: readonly Filter[]): Filter
  or(...others: readonly Filter[]): Filter
  not(): Filter
}

/** A value of a record inside `filter`. */
export interface ValueOperand<V> {
  eq(other: V | null | ValueOperand<V>): Filter
  ne(other: V | null | ValueOperand<V>): Filter
  in(values: readonly V[]): Filter
  notIn(values: readonly V[]): Filter
}

export interface OrderedOperand<V> extends ValueOperand<V> {
  gt(other: V | ValueOperand<V>): Filter
  gte(other: V | ValueOperand<V>): Filter
  lt(other: V | ValueOperand<V>): Filter
  lte(other: V | ValueOperand<V>): Filter
  between(from: V, to: V): Filter
}

export interface TextOperand<V> extends OrderedOperand<V> {
  startsWith(text: string): Filter
  endsWith(text: string): Filter
  contains(text: string): Filter
  regex(pattern: string, options?: { readonly ignoreCase?: boolean }): Filter
}

/** A number, which can be calculated with; a result that is not a number meets no condition. */
export interface NumberOperand extends OrderedOperand<number> {
  plus(other: number | NumberOperand): NumberOperand
  minus(other: number | NumberOperand): NumberOperand
  times(other: number | NumberOperand): NumberOperand
  /** As doubles, whatever the properties are. */
  dividedBy(other: number | NumberOperand): NumberOperand
  /** The remainder of two integers. */
  mod(other: number | NumberOperand): NumberOperand
  abs(): NumberOperand
}

/** A bigint, which can be calculated with; a result beyond 64 bits wraps around, as the server does. */
export interface BigintOperand extends OrderedOperand<bigint> {
  plus(other: bigint | BigintOperand): BigintOperand
  minus(other: bigint | BigintOperand): BigintOperand
  times(other: bigint | BigintOperand): BigintOperand
  /** As doubles. */
  dividedBy(other: bigint | BigintOperand): NumberOperand
  mod(other: bigint | BigintOperand): BigintOperand
  abs(): BigintOperand
}

/** True when anything is stored. */
interface PresenceOperand {
  eq(nothing: null): Filter
  ne(nothing: null): Filter
}

export interface ListOperand<I> extends PresenceOperand {
  has(item: I): Filter
  hasAny(items: readonly I[]): Filter
  hasAll(items: readonly I[]): Filter
  readonly size: NumberOperand
}

export interface MapOperand<K, V> extends PresenceOperand {
  hasKey(key: K): Filter
  hasAnyKey(keys: readonly K[]): Filter
  hasAllKeys(keys: readonly K[]): Filter
  hasValue(value: V): Filter
  hasAnyValue(values: readonly V[]): Filter
  readonly size: NumberOperand
}

/** Type of a property inside `filter`. */
type OperandOf<V> = [V] extends [boolean]
  ? ValueOperand<V>
  : [V] extends [number]
    ? NumberOperand
    : [V] extends [string]
      ? TextOperand<V>
      : [V] extends [bigint]
        ? BigintOperand
        : [V] extends [Date | Uint8Array]
          ? OrderedOperand<V>
          : [V] extends [Ref<infer R>]
            ? ValueOperand<Target<R>>
            : [V] extends [ReadonlyMap<infer K, infer I>]
              ? MapOperand<K, I>
              : [V] extends [readonly (infer I)[] | ReadonlySet<infer I>]
                ? ListOperand<I>
                : FilterFields<V> & Omit<PresenceOperand, keyof V>

/** The properties of a class as the function of `filter` sees them. */
export type FilterFields<T> = {
  readonly [K in ConditionProperty<T> & keyof T]-?: OperandOf<NonNullable<T[K]>>
}
