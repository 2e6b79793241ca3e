import type { KeyValue } from './key-model.js'
import type { IsUnion, KEY } from './key-of.js'
import type { Ref } from './related.js'

/** A key of any class, or the properties that a template makes it of. */
type AnyKey = KeyValue | Readonly<Record<string, unknown>>

/** A key of T, or the properties that it is made of: those that `[KEY]` names, or else `id`. Without either, any key will do. */
export type KeyInput<T extends object = never> = [T] extends [never]
  ? AnyKey
  : T extends { readonly [KEY]: infer P extends string & keyof T }
    ? NamedKey<T, P>
    : T extends { readonly id?: infer K }
      ? NonNullable<K> extends KeyValue
        ? NonNullable<K> | SomeParts<T>
        : AnyKey
      : KeyValue | SomeParts<T>

/** Parts of the keys of T but for the date that a range of time fills in. */
export type SliceParts<T extends object = never> = [T] extends [never]
  ? Readonly<Record<string, unknown>>
  : T extends { readonly [KEY]: infer P extends string & keyof T }
    ? { readonly [K in P]?: PartOf<T[K]> }
    : SomeParts<T>

type NamedKey<T, P extends string & keyof T> =
  { readonly [K in P]: PartOf<T[K]> } | (IsUnion<P> extends true ? string : Extract<T[P], KeyValue>)

type PartOf<V> = NonNullable<V> extends Ref<infer _> ? KeyValue : NonNullable<V>

type SomeParts<T> = { readonly [K in keyof T & string]?: unknown }
