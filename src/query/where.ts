import type { Collection, KeyValue, Ref } from '../model/index.js'

/** Equality and membership. A property that is not stored is `null`: it equals nothing else, and differs from everything else. */
export interface Equality<V> {
  readonly eq?: V | null
  readonly ne?: V | null
  readonly in?: readonly V[]
  readonly notIn?: readonly V[]
}

/** True when anything is stored. */
interface Presence {
  readonly eq?: null
  readonly ne?: null
}

/** Order: numbers and dates by size, strings and bytes by their bytes (UTF-8). */
export interface Ordering<V> {
  readonly gt?: V
  readonly gte?: V
  readonly lt?: V
  readonly lte?: V
  /** Range that includes both ends. */
  readonly between?: readonly [from: V, to: V]
}

export interface TextConditions {
  readonly startsWith?: string
  readonly endsWith?: string
  readonly contains?: string
  /** A POSIX extended regular expression, found anywhere in the text. */
  readonly regex?: string | { readonly pattern: string; readonly ignoreCase?: boolean }
}

/** Conditions on a list or a set. */
export interface ListConditions<I> {
  readonly has?: I
  readonly hasAny?: readonly I[]
  readonly hasAll?: readonly I[]
  readonly size?: number | Ordering<number>
}

/** Conditions on a map. */
export interface MapConditions<K, V> {
  readonly hasKey?: K
  readonly hasAnyKey?: readonly K[]
  readonly hasAllKeys?: readonly K[]
  readonly hasValue?: V
  readonly hasAnyValue?: readonly V[]
  readonly size?: number | Ordering<number>
}

/** An entity, its key, or the properties that its key is made of. */
export type Target<T extends object> = T | KeyValue | Readonly<Record<string, unknown>>

type Scalar = string | number | bigint | boolean | Date | Uint8Array
type Method = (...args: never[]) => unknown

/** The conditions that a property of this type can have. */
export type Condition<V> = [V] extends [boolean]
  ? V | Equality<V>
  : [V] extends [string]
    ? V | (Equality<V> & Ordering<V> & TextConditions)
    : [V] extends [Scalar]
      ? V | (Equality<V> & Ordering<V>)
      : [V] extends [Ref<infer R>]
        ? Target<R> | Equality<Target<R>>
        : [V] extends [ReadonlyMap<infer K, infer I>]
          ? MapConditions<K, I> | Presence
          : [V] extends [readonly (infer I)[] | ReadonlySet<infer I>]
            ? ListConditions<I> | Presence
            : [V] extends [object]
              ? Where<V> | Presence
              : never

/** Names of the properties that hold values: no methods, no relations. */
export type ValueName<T> = keyof {
  [K in keyof T & string as NonNullable<T[K]> extends Method | Ref<infer _R> | Collection<infer _C> ? never : K]: K
}

type Collected = readonly unknown[] | ReadonlySet<unknown> | ReadonlyMap<unknown, unknown>

/** Names of the properties that can be sorted and compared: no lists, sets and maps. */
export type OrderedName<T> = keyof {
  [K in ValueName<T> & keyof T as NonNullable<T[K]> extends Collected ? never : K]: K
} &
  string

/** Names of the properties that hold numbers. */
export type NumberName<T> = keyof {
  [K in ValueName<T> & keyof T as NonNullable<T[K]> extends number | bigint ? K : never]: K
} &
  string

/** Names of the properties that records can be grouped by: values, lists and sets of values, and references. */
export type GroupName<T> = keyof {
  [K in ConditionProperty<T> & keyof T as NonNullable<T[K]> extends ReadonlyMap<infer _K, infer _V> ? never : K]: K
} &
  string

/** Names of the properties that hold values and are not `readonly`. */
export type WritableName<T> = keyof {
  [K in ValueName<T> & keyof T as Same<Pick<T, K>, Mutable<Pick<T, K>>> extends true ? K : never]: K
} &
  string
type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

/** Names of the properties that conditions can name: values, parts and references. */
export type ConditionProperty<T> = keyof {
  [K in keyof T & string as NonNullable<T[K]> extends Method | Collection<infer _C> ? never : K]: K
}

/**
 * Conditions that must all hold, by property; `null` means that nothing is stored.
 *
 * @example
 * const cheap: Where<Listing> = { city: 'Bern', price: { between: [100, 500] }, tags: { has: 'garden' }, soldAt: null }
 */
export type Where<T> = {
  readonly [K in ConditionProperty<T> & keyof T]?: Condition<NonNullable<T[K]>> | null
}
