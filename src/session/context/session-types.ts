export type { KeyInput } from '../../model/index.js'
import type { KeyValue } from '../../keys/index.js'
import type {
  Collection,
  CollectionProperty,
  DeletedOption,
  OutsideTransaction,
  Ref,
  RefProperty,
} from '../../model/index.js'
import type { Ttl } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { KeyOf, ListName, MapName } from '../../records/handle-types.js'
import type { SliceSelection } from '../mapping/partial-read.js'
import type { TransactionMode } from './open-options.js'

type Method = (...args: never[]) => unknown

/** Names of the properties of T that hold values: no methods, no relations. */
export type ValueProperty<T> = keyof {
  [K in keyof T & string as NonNullable<T[K]> extends Method | Ref<infer _R> | Collection<infer _C> ? never : K]: K
}

/** Names of the relations of T. */
export type RelationName<T> = RefProperty<T> | CollectionProperty<T>

/** The class that a Ref or a Collection leads to. */
export type RelatedTo<R> =
  NonNullable<R> extends Ref<infer B> ? B : NonNullable<R> extends Collection<infer B> ? B : never

/** Values for a new entity; a relation takes an entity or its key, or a list of them. */
export type NewValues<T> = { readonly [K in ValueProperty<T> & keyof T]?: T[K] } & {
  readonly [K in RefProperty<T> & keyof T]?: RelatedTo<T[K]> | KeyValue | null
} & { readonly [K in CollectionProperty<T> & keyof T]?: readonly (RelatedTo<T[K]> | KeyValue)[] }

/**
 * Relations of T as paths, three steps deep: `'listings' | 'listings.reviews' | …`. What lies deeper is checked when it is loaded:
 * classes that refer to one another have no end of paths. Of several classes, a path is one of any of them.
 */
export type RelationPath<T, Depth extends readonly unknown[] = [1, 2]> = T extends unknown
  ? {
      [K in RelationName<T> & keyof T & string]:
        | K
        | (Depth extends readonly [unknown, ...infer Less]
            ? `${K}.${RelationPath<RelatedTo<T[K]>, Less>}`
            : `${K}.${string}`)
    }[RelationName<T> & keyof T & string]
  : never

/** Part of a property to read: keys, fields, or items by position. */
type SelectionOf<V> = NonNullable<V> extends readonly unknown[] ? SliceSelection : readonly KeyOf<V>[]

/** A property to load, or the parts of some. */
export type OnlyOf<T> =
  | ValueProperty<T>
  // Without such a property it would be an empty object type, which takes any text.
  | ([PartlyRead<T>] extends [never] ? never : { readonly [K in PartlyRead<T>]?: SelectionOf<T[K]> })

type PartlyRead<T> = (ListName<T> | MapName<T>) & ValueProperty<T> & keyof T

export interface LoadOptions<T> extends OutsideTransaction, DeletedOption {
  /**
   * Load only these properties (and the key and version); the others are `undefined` and are never written. An object says which entries
   * of a Map, fields of a part or items of a list are read: `['name', { settings: ['locale'] }, { items: { last: 20 } }]`.
   */
  readonly only?: readonly OnlyOf<T>[]
  /** Relations to load along, as paths: `['listings', 'listings.reviews']`. */
  readonly with?: readonly RelationPath<T>[]
  /** Gives up waiting; rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /**
   * For classes with an `archive`: loads archived entities (`'archive'`), or those that are not archived and the others from there
   * (`'any'`). Archived ones cannot be changed, and no session manages them. Of another class, with paths that lead to one with an
   * `archive`: `'any'` loads what the paths lead to from wherever it is, and no session manages any of it.
   */
  readonly from?: 'archive' | 'any'
}

/** Options of a load of one entity. */
export interface LoadOneOptions<T> extends LoadOptions<T> {
  /** The version that the caller has seen: any other is a `VersionConflictError`. */
  readonly version?: number
}

export interface SaveOptions extends OutsideTransaction {
  /** The version that the caller has seen: where the session has loaded another, that is a `VersionConflictError`, and nothing is sent. */
  readonly version?: number
  /** Seconds that this record lives from now on, or `'never'`. */
  readonly ttl?: Exclude<Ttl, 'keep'>
  readonly signal?: AbortSignal
  /** Use of transactions for records that change together; as `open` was told, unless given. */
  readonly transactions?: TransactionMode
}

/** Options of an upsert: it overwrites the record whatever its version. */
export type UpsertOptions = Omit<SaveOptions, 'version'>

export interface RefreshOptions {
  readonly signal?: AbortSignal
}

/** Options of `session.at`. */
export interface AtOptions {
  /** A change makes the record where it is missing; without it, a missing record is an `EntityGoneError`. */
  readonly create?: boolean
}

/** Effect of a save on one entity. */
export interface Changes {
  readonly kind: 'create' | 'update' | 'delete' | 'none'
  /** Names of the properties that differ from what is stored. */
  readonly properties: readonly string[]
  readonly operations: readonly WriteOperation[]
}
