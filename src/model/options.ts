import type { InnerMapKeyKind } from './bin-type.js'
import type { KeyGenerator, KeyKind } from './key-model.js'
import type { EntityClass } from './model.js'
import type { IndexCalculation, IndexModel, ShardingModel } from './property-model.js'
import type { CapModel, ExpectedSize, OnDelete, Orphans } from './relation-model.js'
import type { TypeSpec } from './type-spec.js'

/** Options of `@Record`. A subclass inherits what it does not say itself. */
export interface RecordOptions {
  /** The Aerospike set. Required, unless a base class has one. */
  readonly set?: string
  /** The namespace, when it is not the one given to `open`. */
  readonly namespace?: string
  /** The namespace that `session.archive` moves records to. */
  readonly archive?: string
  /** The name in messages and plans; the class name unless given. */
  readonly name?: string
  /** Seconds that records live, or `'never'`; unset leaves it to the namespace. Later writes keep the remaining time unless `onUpdate` is `'refresh'`. */
  readonly ttl?: number | 'never' | { readonly seconds: number | 'never'; readonly onUpdate?: 'keep' | 'refresh' }
  /** Store the user key with the record, so that other programs see it. The key is always stored as a bin. */
  readonly sendKey?: boolean
  readonly durableDelete?: boolean
  /** A key made of several properties: `'tenant:{tenant}:order:{orderId}'`. */
  readonly key?: string
  /** The session's tenant enters every key. */
  readonly tenant?: boolean
  /** The bin that tells the classes of this set apart. Given once, on the base class. */
  readonly discriminator?: string
  /** The value of that bin for this class. */
  readonly discriminatorValue?: string | number
}

/** Options of `@Embeddable`. */
export interface EmbeddableOptions {
  readonly name?: string
  /** An id made of several properties: `'{regionId}:{storeId}'`. */
  readonly key?: string
  /** The property in that template that holds the key of the record the part lives in, so that the part can be found by its own id. */
  readonly parent?: string
  /** `'tuple'`: stored as a list of its fields in the order of their declaration, which the server can sort and search by its first fields. */
  readonly layout?: 'map' | 'tuple'
}

/** Options of `@Key`. */
export interface KeyOptions<K extends KeyKind = KeyKind> {
  /** The bin; the property name unless given. */
  readonly name?: string
  readonly type?: K
  /** Way in which a new entity without a key gets one. */
  readonly generate?: KeyGenerator
}

/** Options of `@Bin`. */
export interface BinOptions<S extends TypeSpec = TypeSpec> {
  /** The bin; the property name unless given. */
  readonly name?: string
  /** The type, when reflection cannot see it. A `number` is an `'int'` unless this says `'double'`. */
  readonly type?: S
  /** A stored value never changes: it is given when the entity is created, or later where there was none. */
  readonly immutable?: boolean
}

/** Options of `@Counter`. */
export interface CounterOptions extends NamedBinOptions {
  /** `'bigint'` for what may pass 2^53; by default as the property is declared, otherwise `'int'`. */
  readonly type?: 'int' | 'bigint'
}

/** Options of `@Version`, `@CreatedAt`, `@UpdatedAt` and `@DeletedAt`. */
export interface NamedBinOptions {
  /** The bin; the property name unless given. */
  readonly name?: string
}

/** Options of `@CountOf`, and the collection that it names. */
export interface CountOfOptions extends NamedBinOptions {
  readonly of: string
}

export type EmbeddedShape = 'one' | 'array' | 'map'

/** Options of `@Embedded`. */
export interface EmbeddedOptions<A extends EmbeddedShape = EmbeddedShape, K extends InnerMapKeyKind = InnerMapKeyKind> {
  readonly name?: string
  /** `'one'` (the default), an `'array'` of parts, or a `'map'` of parts (a JavaScript Map). */
  readonly as?: A
  /** With `as: 'map'`: the type of the map's keys; `'string'` unless given. */
  readonly key?: K
  /** With `as: 'one'`: `'map'` (the default) is one map bin, `'bins'` makes every field a bin of the record. */
  readonly layout?: 'map' | 'bins'
  /** With `layout: 'bins'`: what the names of those bins start with; `<property>_` unless given. */
  readonly prefix?: string
  /** With `as: 'array'`: `'sorted'` keeps the parts in value order; with `as: 'map'`: `'key'` (the default) or `'keyValue'`. */
  readonly order?: A extends 'array' ? 'sorted' : 'key' | 'keyValue'
  /** With `as: 'array'`: equal parts are stored once. */
  readonly unique?: boolean
  /** The server stores the index of the sorted list or of the map with it. */
  readonly persistIndex?: boolean
}

/** Options of `@Index`. */
export interface IndexOptions {
  /** The index; `<set>_<bin>` unless given. */
  readonly name?: string
  /** The indexed part of the bin. Unless given: list elements of lists and sets, otherwise the value. */
  readonly on?: IndexModel['on']
}

/** Options of `@Index` on a class: a calculated value is indexed. */
export interface CalculatedIndexOptions {
  readonly name: string
  /** The integer to index, as `filter` would calculate it. Queries that compare the same calculation use the index. */
  readonly of: IndexCalculation
}

/** Options of `@Copy`. */
export interface CopyOptions extends NamedBinOptions {
  /**
   * When the copy follows its source: `'onSave'` (the default) in the flush that changes the source, `'background'` when
   * `db.copies.refresh` is called, `'never'`: it stays what the source was when the reference was set.
   */
  readonly refresh?: 'onSave' | 'background' | 'never'
}

/** Options of `@Copy`, and what it copies. */
export interface CopyDeclaration extends CopyOptions {
  /** Returns the reference of an entity. */
  readonly of: (entity: never) => unknown
  readonly from: string
}

/** Options of `@History`. */
export interface HistoryOptions {
  /** Number of earlier states that are kept of a record; 20 unless given. */
  readonly keep?: number
  /** Seconds that the history of a record lives after its last change, or `'never'`; unset leaves it to the namespace. */
  readonly ttl?: number | 'never'
  /** The set of the records that hold it; `<set>_history` unless given. */
  readonly set?: string
}

/** Options of `@Companion`. */
export interface CompanionOptions {
  /** The set of the companion records; `<set>_<bin>` unless given. */
  readonly set?: string
  /** The bin of the owner's record that says how its members are stored; `subkeys` unless given, and to be given where a class has several. */
  readonly subkeys?: string
}

/** Options of `@Sharded`. */
export type ShardedOptions = ShardingModel & CompanionOptions

interface RefOptions {
  /** The bin; the property name unless given. */
  readonly name?: string
  /** Load it with the entity, even when `with` does not name it. */
  readonly eager?: boolean
}

/** Options of `@ManyToOne`. */
export type ManyToOneOptions = RefOptions

/** `@OneToOne` with the other's key in a bin. */
export interface KeyBinOptions extends RefOptions {
  readonly strategy?: 'keyBin'
  /** Two-sided: exactly one side is the owner, whose stored value is the truth. */
  readonly owner?: boolean
  readonly onDelete?: OnDelete
}

/** `@OneToOne` with the same user key in another set or namespace. */
export interface SharedKeyOptions {
  readonly strategy: 'sharedKey'
  readonly owner?: boolean
  readonly eager?: boolean
  readonly onDelete?: OnDelete
}

export type OneToOneOptions = KeyBinOptions | SharedKeyOptions

/** `@OneToMany` with an ordered list of child keys on the parent (the default). */
export interface KeyListOptions {
  readonly strategy?: 'keyList'
  readonly expect?: ExpectedSize
  readonly name?: string
  readonly eager?: boolean
  readonly onDelete?: OnDelete
  readonly orphans?: Orphans
}

/** `@OneToMany` with an index on the child's bin, and nothing on the parent. */
export interface SecondaryIndexOptions {
  readonly strategy: 'secondaryIndex'
  readonly onDelete?: OnDelete
  readonly orphans?: Orphans
  /** The index; `<set>_<bin>` of the child unless given. */
  readonly indexName?: string
}

/** `@OneToMany` with the children inside the parent's record. */
export interface ConsolidateOptions<Property extends string = string, RefPath extends string = string> {
  readonly strategy: 'consolidate'
  readonly expect?: ExpectedSize
  readonly name?: string
  /** `false`: the children are read when asked for (`with`, `load()`, `get()` …), and not with every load of the parent. */
  readonly eager?: boolean
  /** Properties that order the children, before their id. */
  readonly sortKey?: readonly Property[]
  /** The bin that finds a child's place by its id; `<collection>.ids` unless given. */
  readonly sortKeyName?: string
  /** Further orders by name: properties whose values order the children, asked with `collection.by(name)`. */
  readonly orders?: { readonly [name: string]: readonly Property[] }
  /** Keep only so many children. */
  readonly cap?: CapModel
  /** Indexes a reference of the children (`author`), or of their own children (`'replies.author'`): a map on the parent from each target to the children that point to it. */
  readonly inverseIndex?: { readonly [R in RefPath]?: InverseIndexOptions }
}

export interface InverseIndexOptions {
  /** The bin of the map; by default `<collection>_<ref>`, after the collection that has the reference. */
  readonly name?: string
  /** Action on children that reference a deleted entity; `'keep'` unless given. */
  readonly onTargetDelete?: 'delete' | 'keep'
}

/** Options of `@ManyToMany`. */
export interface ManyToManyOptions<A extends object = object> {
  readonly expect?: ExpectedSize
  readonly name?: string
  /** Two-sided: exactly one side is the owner, whose stored value is the truth. */
  readonly owner?: boolean
  readonly eager?: boolean
  readonly onDelete?: OnDelete
  /** An `@Embeddable` class for values that belong to the link itself (`since`, `role`). */
  readonly attributes?: () => EntityClass<A>
}

/** `@ManyToMany` whose links are records of a class of their own. */
export interface ThroughOptions<L extends object = object> {
  /** The `@Record` class of the links, keyed by its two ends: `key: '{from}:{to}'`. */
  readonly through: () => EntityClass<L>
  /** Way in which an end finds its links: by a list of their keys (the default), or by an index on the reference to it. */
  readonly strategy?: 'keyList' | 'secondaryIndex'
  /** With `keyList`: the bin of the list; the property name unless given. */
  readonly name?: string
  /** With `secondaryIndex`: the index; `<set>_<bin>` of the link unless given. */
  readonly indexName?: string
  /** With `keyList`. */
  readonly expect?: ExpectedSize
  /** With `keyList`: load the links and what they lead to with the entity, even when `with` does not name it. */
  readonly eager?: boolean
  /** Fate of the links when this end is deleted; they are deleted with it unless given. */
  readonly onDelete?: 'cascade' | 'restrict'
}

export type OneToManyOptions = KeyListOptions | SecondaryIndexOptions | ConsolidateOptions
