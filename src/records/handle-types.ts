import type { Collection, Ref } from '../model/index.js'

type AnyMap = ReadonlyMap<unknown, unknown>
type Leaf = Date | Uint8Array | ((...args: never[]) => unknown) | Ref<object> | Collection<object>

/** The kind of handle for a value. A Map comes first, because the compiler takes it for a ReadonlySet, too. */
export type KindOf<V> = unknown extends V
  ? 'map'
  : NonNullable<V> extends AnyMap
    ? 'map'
    : NonNullable<V> extends number | bigint
      ? 'counter'
      : NonNullable<V> extends readonly unknown[]
        ? 'list'
        : NonNullable<V> extends Leaf
          ? 'other'
          : NonNullable<V> extends ReadonlySet<unknown>
            ? 'set'
            : NonNullable<V> extends object
              ? 'map'
              : 'other'

/** Names of the properties of T that have a handle of a kind. */
type Names<T, Kind> = keyof { [K in keyof T & string as KindOf<T[K]> extends Kind ? K : never]: K }

export type CounterName<T> = Names<T, 'counter'>
export type ListName<T> = Names<T, 'list'>
export type SetName<T> = Names<T, 'set'>
/** Maps, parts and JSON objects. */
export type MapName<T> = Names<T, 'map'>

/** Keys of a Map, or names of the properties of a part. */
export type KeyOf<M> = unknown extends M
  ? string
  : NonNullable<M> extends ReadonlyMap<infer K, unknown>
    ? K
    : keyof NonNullable<M> & string

/** Value of a Map, or of the property of a part. */
export type ValueOf<M, K> = unknown extends M
  ? unknown
  : NonNullable<M> extends ReadonlyMap<unknown, infer V>
    ? V
    : K extends keyof NonNullable<M>
      ? NonNullable<M>[K]
      : never

/** Entries of a Map, or fields of a part. */
export type EntriesOf<M> = [key: KeyOf<M>, value: ValueOf<M, KeyOf<M>>][]

/** Keys under which there are numbers. */
export type NumberKeyOf<M> = unknown extends M
  ? string
  : NonNullable<M> extends ReadonlyMap<infer K, infer V>
    ? IfNumber<V, K>
    : keyof { [K in keyof NonNullable<M> & string as IfNumber<NonNullable<M>[K], K>]: K }

/** `Then`, where a value is a number or may be one. */
export type IfNumber<V, Then> = unknown extends V ? Then : NonNullable<V> extends number | bigint ? Then : never

/** Part of a map of parts. */
export type PartOf<M> = NonNullable<M> extends ReadonlyMap<unknown, infer V> ? V : never

export type ItemOf<V> =
  NonNullable<V> extends readonly (infer I)[] ? I : NonNullable<V> extends ReadonlySet<infer I> ? I : never
