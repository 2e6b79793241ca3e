import type { Collection, Ref, RefProperty } from '../model/related.js'
import type { Declared, Mistake } from './mistake.js'

/** The property that a to-one relation to T stands on; I is the property on the other side, or never. */
export type RefSide<P, N extends string, T extends object, I extends keyof T> = [Declared<P, N>] extends [Ref<T>]
  ? ComesBack<P, T, I>
  : Mistake<`Declare it with the class of the relation: ${N} = ref<…>()`>

/** The property that a to-many relation to T stands on; I is the property on the other side, or never. */
export type CollectionSide<P, N extends string, T extends object, I extends keyof T> = [Declared<P, N>] extends [
  Collection<T>,
]
  ? ComesBack<P, T, I>
  : Mistake<`Declare it with the class of the relation: ${N} = collection<…>()`>

/** Attributes are checked by `link` only where the collection knows their class. */
export type WithAttributes<P, N extends string, A> = [A] extends [never]
  ? unknown
  : Declared<P, N> extends Collection<infer _, infer B>
    ? [keyof B] extends [never]
      ? Mistake<`Declare it with the class of the attributes, too: ${N} = collection<…, …>()`>
      : [B] extends [A]
        ? unknown
        : Mistake<`The attributes of ${N} are of another class than the decorator says.`>
    : unknown

type ComesBack<P, T, I extends keyof T> = [I] extends [never]
  ? unknown
  : [Returning<P, T, I>] extends [never]
    ? Mistake<`The other side, ${I & string}, is a relation to another class.`>
    : unknown

/** Filters the named properties for relations to P. A subclass may inherit the relation, so either class may be the wider one. */
type Returning<P, T, I extends keyof T> = {
  [K in I]: Related<T[K]> extends infer B ? ([P] extends [B] ? K : [B] extends [P] ? K : never) : never
}[I]

/** Of a collection through link records, the reference of these leads back to it. */
type Related<R> =
  NonNullable<R> extends Ref<infer B>
    ? B
    : NonNullable<R> extends Collection<infer B, infer L>
      ? [RefProperty<L>] extends [never]
        ? B
        : B | L
      : never
