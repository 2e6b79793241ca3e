import type { KeyValue } from './key-model.js'

/**
 * Names, for types alone, the properties that make the key of a class where it is not `id`.
 *
 * @example
 * declare readonly [KEY]: 'tenant' | 'orderId'
 */
export const KEY: unique symbol = Symbol.for('skein.key') as never

/** The type of the keys of T as far as the compiler can tell. */
export type KeyOf<T extends object> = KeyAmong<T, T>

/** Keys of several classes are text: the set and the key. */
type KeyAmong<T extends object, All> = T extends unknown ? ([All] extends [T] ? KeyOfOne<T> : string) : never

type KeyOfOne<T extends object> = T extends { readonly [KEY]: infer P extends string & keyof T }
  ? IsUnion<P> extends true
    ? string
    : Extract<T[P], KeyValue>
  : T extends { readonly id?: infer K }
    ? NonNullable<K> extends KeyValue
      ? NonNullable<K>
      : KeyValue
    : KeyValue

export type IsUnion<P, All = P> = P extends unknown ? ([All] extends [P] ? false : true) : never
