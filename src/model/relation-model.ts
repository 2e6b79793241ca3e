import type { ShardingModel, SplitWhen } from './property-model.js'

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany'

/**
 * Storage of a relation: `sharedKey` (same user key, other set), `keyBin` (the other's key in a bin), `keyList` (ordered list of
 * keys; on both sides of a many-to-many), `linkMap` (many-to-many with attributes), `consolidate` (map of parts), `secondaryIndex`
 * (nothing here: an index on the child's key bin).
 */
export type RelationStrategy = 'sharedKey' | 'keyBin' | 'keyList' | 'linkMap' | 'consolidate' | 'secondaryIndex'

/** Form in which the keys of members are stored in the relation's bin: one, a list of them, or as the keys of a map. */
export const STORED_KEYS: { readonly [S in RelationStrategy]: 'one' | 'list' | 'map' | undefined } = {
  keyBin: 'one',
  keyList: 'list',
  linkMap: 'map',
  sharedKey: undefined,
  consolidate: undefined,
  secondaryIndex: undefined,
}

/** Most companion records that a collection or counter may be spread over. */
export const MAX_SHARDS = 4096

export type OnDelete = 'cascade' | 'detach' | 'restrict'
export type Orphans = 'delete' | 'keep'

/** Companion records that hold the members of some hours or days each, for new owners. */
export interface BucketsModel {
  readonly by: 'hour' | 'day'
  readonly every: number
  /** The date among the attributes of links that says which bucket they belong to; absent: the time at which they are made, or a date of a child. */
  readonly on?: string
  /** Seconds after the end of its time at which a bucket expires. */
  readonly ttl?: number
}

/** Companion records that hold the members of a collection, in a bin of the same name. */
export interface CompanionsModel {
  readonly set: string
  /** The bin of the owner's record that says how its members are stored. */
  readonly subkeys: string
  /** Members of a new owner are spread by hash over so many; absent: all are in one companion, under the owner's own key. */
  readonly shards?: number
  /** Members are in buckets of time by a date of theirs. */
  readonly buckets?: BucketsModel
  /** Members stay in the owner's record until one of these is passed. */
  readonly when?: SplitWhen
}

/** Keeps only the first or last parts of a consolidated collection, in key order. */
export interface CapModel {
  readonly keep: number
  readonly by: 'first' | 'last'
}

/** Expected size of a collection; `open` warns where it will outgrow its record. */
export interface ExpectedSize {
  /** Members that 99 of 100 records stay below. */
  readonly p99: number
  /** Bytes of one member: its key, its key and attributes, or all of a part. */
  readonly bytes: number
}

/** On the parent of consolidated parts: a map from each key that references of parts hold to the ids of those parts, or to the paths to them. */
export interface InverseIndexModel {
  /** The Ref property of the part. */
  readonly ref: string
  /** Collections that lead from the part to those that have the reference; absent where the part itself has it. The last may contain itself. */
  readonly through?: readonly string[]
  /** The bin of the parent that holds the map. */
  readonly bin: string
  /** Action on the parts when the entity they reference is deleted. */
  readonly onTargetDelete: 'delete' | 'keep'
}

/** The index as its declaration names it: `'author'`, `'replies.author'`. */
export const inversePath = ({ through = [], ref }: InverseIndexModel): string => [...through, ref].join('.')

/** A further order of consolidated children: a sorted list of tuples, of the values of these properties and the child's id. */
export interface OrderModel {
  readonly name: string
  readonly properties: readonly string[]
  readonly bin: string
}

/** Collection of link records, which people see as one of the entities that the links lead to. */
export interface ThroughModel {
  /** Name of the EntityModel at the far end. */
  readonly target: string
  /** The Ref of the link record that points there. */
  readonly ref: string
}

/** A relation of an entity (or a ref of an embeddable). */
export interface RelationModel {
  readonly name: string
  readonly kind: RelationKind
  readonly strategy: RelationStrategy
  /** `ref` holds one, `collection` holds many. */
  readonly holds: 'ref' | 'collection'
  /** Name of the EntityModel (for `consolidate`: of the EmbeddableModel) on the other side. */
  readonly target: string
  /** Names of the EntityModels on the other side, where there are several; `target` stands for one of them. */
  readonly several?: readonly string[]
  /** Name that stands for this class and the others that the reference on the other side may lead to. */
  readonly knownAs?: string
  /** The property on the other side, when the relation is two-sided. */
  readonly inverse?: string
  /** True when the value stored on this side is the truth. */
  readonly owner: boolean
  /** The bin on this side, when the strategy needs one. */
  readonly bin?: string
  /** Position in the loaded-mask. */
  readonly index: number
  /** Action on the related entities when the entity that has this relation is deleted. */
  readonly onDelete: OnDelete
  /** The reference on the other side is part of the key there, so that nobody can be detached: `detach` is `restrict`. */
  readonly inTheirKeys?: true
  /** Action on a child that is removed from the collection. */
  readonly orphans: Orphans
  /** Loaded with the entity even when `with` does not name it. */
  readonly eager: boolean
  /** consolidate: properties of the part that make up the map's key order, before its id. */
  readonly sortKey?: readonly string[]
  /** consolidate with sortKey: the bin that holds id → sort key. */
  readonly sortKeyBin?: string
  /** consolidate: further orders of the children. */
  readonly orders?: readonly OrderModel[]
  readonly cap?: CapModel
  readonly inverseIndexes?: readonly InverseIndexModel[]
  /** linkMap: name of the EmbeddableModel of the attributes of a link. */
  readonly attributes?: string
  /** linkMap whose attributes have a `@DeletedAt`: the bin that keeps links which were ended. */
  readonly endedBin?: string
  readonly sharding?: ShardingModel
  readonly expect?: ExpectedSize
  /** Set where members are in companion records and not in `bin` of this one. */
  readonly companions?: CompanionsModel
  /** Set where members are link records; `target` is their class then, and `inverse` their Ref to this end. */
  readonly through?: ThroughModel
}

/** Name of the class of the entities that people see in a relation. */
export const shownClassOf = ({ target, through }: Pick<RelationModel, 'target' | 'through'>): string =>
  through?.target ?? target
