import type { TimeRange } from '../keys/index.js'
import type { KeyValue } from './key-model.js'
import type { KeyOf } from './key-of.js'
import type { DeletedOption } from './soft-delete.js'

/** The other side of a `@ManyToOne` or `@OneToOne`. Declared as `agent = ref<Agent>()`. */
export interface Ref<T extends object> {
  /** The key of the related entity, or null when there is none. Known without loading it. */
  readonly key: KeyOf<T> | null
  readonly isLoaded: boolean
  /** The related entity, or null when there is none. Throws while it is not loaded. */
  readonly value: T | null
  /** Points to another entity (or to its key), or to nothing. Sent by the next save or flush. */
  set(target: T | KeyValue | null): void
  /** Loads the related entity; loads asked for in the same tick become one batch read. */
  load(options?: DeletedOption): Promise<T | null>
}

/** For what a transaction cannot carry. */
export interface OutsideTransaction {
  /** Do it although a transaction is under way: it is not part of it, and is not undone with it. */
  readonly outsideTransaction?: boolean
}

/** Options of questions about the members of a collection. */
export interface QuestionOptions extends OutsideTransaction, DeletedOption {}

export interface PageOptions extends QuestionOptions {
  /** Members to leave out before the page; a negative number counts from the end. Not for collections by index, whose members have no numbers. */
  readonly offset?: number
  readonly count: number
  /** For collections by index: the `next` of the page before. */
  readonly after?: string
}

/** A part of the keys of a collection; all of them unless a number is given. */
export interface KeysOptions extends QuestionOptions {
  /** Keys to leave out; a negative number counts from the end. */
  readonly offset?: number
  readonly count?: number
}

/** A page of members of a collection. */
export interface Page<T> extends ReadonlyArray<T> {
  /** Cursor of the next page of a collection by index; undefined on the last page. */
  readonly next?: string
}

/** A key, or for a collection with a `sortKey` the values it begins with. */
export type RangeBound = KeyValue | Date | readonly (KeyValue | Date | null)[]

export interface RangeOptions {
  /** The first that is wanted; unless given, from the beginning. */
  readonly from?: RangeBound
  /** The first that is no longer wanted; unless given, up to the end. */
  readonly to?: RangeBound
}

/** Children of a consolidated collection in one of its `orders`. */
export interface CollectionOrder<T extends object> {
  /** Number of children that have all values of the order. */
  count(): Promise<number>
  /** The first (last) children, in this order. */
  first(count: number): Promise<readonly T[]>
  last(count: number): Promise<readonly T[]>
  page(options: { readonly offset?: number; readonly count: number }): Promise<readonly T[]>
  /** Children whose values are from one bound up to, but not including, another one. */
  range(options: RangeOptions): Promise<readonly T[]>
}

type Method = (...args: never[]) => unknown

/** Values of a link: all of its attributes; of a link record, those that are to be set, where a reference takes an entity or its key. */
export type LinkValues<A> = [RefProperty<A>] extends [never]
  ? A
  : {
      readonly [K in keyof A as NonNullable<A[K]> extends Method ? never : K]?: NonNullable<A[K]> extends Ref<infer B>
        ? A[K] | B | KeyValue | null
        : A[K]
    }

/** The other side of a `@OneToMany` or `@ManyToMany`. Declared as `listings = collection<Listing>()`. */
export interface Collection<T extends object, A extends object = object> extends Iterable<T> {
  /** Recorded, and sent by the next save or flush. */
  add(...members: (T | KeyValue)[]): void
  remove(...members: (T | KeyValue)[]): void
  /** Adds with attributes of the link itself; those of a link that is there already are replaced. */
  link(member: T | KeyValue, attributes: LinkValues<A>): void
  /** Ends links: the same as `remove`. Link records are deleted; a link whose attributes have a `@DeletedAt` stays stored as an ended one. */
  unlink(...members: (T | KeyValue)[]): void
  /** The record of the link to a member, or null when there is none: one get. For relations `through` a class. */
  linkOf(member: T | KeyValue, options?: DeletedOption): Promise<A | null>
  /** The attributes of the link to a member, or null when it is none. Change them, and the next save or flush writes what changed. */
  attributesOf(member: T | KeyValue, options?: DeletedOption): Promise<A | null>
  /**
   * Makes a link again that was ended, with the attributes it had; false where there is none. For attributes with a `@DeletedAt`. The next
   * save or flush sends it.
   *
   * @example
   * await agent.offices.restore('north')
   */
  restore(member: T | KeyValue): Promise<boolean>
  readonly isLoaded: boolean
  /** The members. Throws while they are not loaded. */
  readonly items: readonly T[]
  /** Keys that are listed here and have no record: their entities expired, or were deleted past Skein. Known once loaded. */
  readonly dangling: readonly KeyOf<T>[]
  /** In a transaction, a collection that an index finds needs `{ outsideTransaction: true }`, here and in all that follow. */
  load(options?: QuestionOptions): Promise<readonly T[]>
  /** Answered by the server without loading the collection. */
  contains(member: T | KeyValue, options?: DeletedOption): Promise<boolean>
  count(options?: QuestionOptions): Promise<number>
  /** Keys of all members, or of a page of them, without loading the members. */
  keys(options?: KeysOptions): Promise<readonly KeyOf<T>[]>
  page(options: PageOptions): Promise<Page<T>>
  /**
   * Consolidated children from `from` on and before `to`, by the date that chooses their shards: only the shards of that time are read.
   *
   * @example
   * await site.events.window({ from: new Date(Date.now() - 86_400_000), to: new Date() })
   */
  window(range: TimeRange): Promise<readonly T[]>
  /** All members one after the other, in bounded memory: those that are not changed are detached again. */
  stream(options?: QuestionOptions): AsyncIterable<T>
  /** Consolidated children only, as all that follow: the child under that key, or null. */
  get(key: KeyValue): Promise<T | null>
  /** In the order of the keys, null where there is none. */
  getMany(keys: readonly KeyValue[]): Promise<readonly (T | null)[]>
  /** The children from one key up to, but not including, another one. */
  range(options: RangeOptions): Promise<readonly T[]>
  /** The first (last) children, in key order. */
  first(count: number): Promise<readonly T[]>
  last(count: number): Promise<readonly T[]>
  /** Position of a child in key order, from 0; null when there is none. */
  indexOf(member: T | KeyValue): Promise<number | null>
  /** The children in one of the `orders` that the decorator names. */
  by(order: string): CollectionOrder<T>
  /** Collections that are sharded on demand only: moves the members into so many companion records at once, while others go on reading and writing. */
  shard(shards: number): Promise<void>
  /** Moves the members back into the owner's record; they must fit. */
  merge(): Promise<void>
}

/** Names of the properties of T that are refs. */
export type RefProperty<T> = keyof { [K in keyof T & string as NonNullable<T[K]> extends Ref<infer _> ? K : never]: K }

/** References of T, and of the members of its collections, as paths: `'author'`, `'replies.author'`; three collections deep. */
export type RefPath<T, Depth extends readonly unknown[] = [1, 1, 1]> =
  | RefProperty<T>
  | (Depth extends readonly [unknown, ...infer Rest]
      ? { [K in CollectionProperty<T> & keyof T]: `${K}.${RefPath<MemberOf<T[K]>, Rest>}` }[CollectionProperty<T> &
          keyof T]
      : never)

type MemberOf<C> = NonNullable<C> extends Collection<infer M> ? M : never

/** Names of the properties of T that are collections. */
export type CollectionProperty<T> = keyof {
  [K in keyof T & string as NonNullable<T[K]> extends Collection<infer _> ? K : never]: K
}
