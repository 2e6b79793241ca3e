import type { BinType } from './bin-type.js'

/** Special role of a stored property. */
export type PropertyRole =
  'key' | 'plain' | 'version' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'counter' | 'countOf' | 'copy'

/** A stored property of an entity, or a field of an embeddable. */
export interface PropertyModel {
  /** Name of the property on the class. */
  readonly name: string
  /** Name of the bin (in an embeddable: the key in the map). For an embedded part in `bins`, the prefix of its bins. */
  readonly bin: string
  readonly type: BinType
  readonly role: PropertyRole
  /** Position in the loaded-mask. Properties come first, relations follow. */
  readonly index: number
  /** Set for the number of members of a collection: the name of that. */
  readonly countOf?: string
  /** Set for a value that is copied from another record. */
  readonly copy?: CopyModel
  /** A stored value never changes. */
  readonly immutable?: true
  /** Set for a counter that is spread over companion records. */
  readonly sharding?: ShardingModel
}

/** Source of a copied property. */
export interface CopyModel {
  /** The reference of the same class that leads to the record it is copied from. */
  readonly relation: string
  /** The property there. */
  readonly from: string
  readonly refresh: 'onSave' | 'background' | 'never'
}

/** When a collection is split; none given: only by `collection.shard(n)`. */
export interface SplitWhen {
  /** Bytes of the record that holds the members. */
  readonly bytes?: number
  /** Members in one record. */
  readonly members?: number
  /** Answers within a second that the record is busy (code 14), as one process gets them. */
  readonly busyPerSecond?: number
}

/** A collection or counter spread over companion records. */
export type ShardingModel =
  | { readonly by: 'hash'; readonly shards: number; readonly when?: SplitWhen }
  /** `on` is the Date property of a child, or of the attributes of a link, that says which bucket it belongs to; links without one are kept by the time at which they are made. Buckets are of `every` hours or days, and expire `ttl` seconds after their end. */
  | { readonly by: 'hour' | 'day'; readonly on?: string; readonly every?: number; readonly ttl?: number }

/** Builds a value of properties and numbers, which the server calculates; its parameter is what the function of `filter` gets. */
export type IndexCalculation = (fields: never) => object

/** An index on a field of an embeddable, for each record that embeds one. */
export interface PartIndexModel {
  readonly property: string
  /** The key of the field in the stored map. */
  readonly field: string
  readonly on: IndexModel['on']
  readonly type: IndexModel['type']
}

/** A secondary index that the model needs. */
export interface IndexModel {
  readonly name: string
  /** The set of the companion records that hold the members of a collection, where the class's own does not. */
  readonly set?: string
  /** Empty where a calculated value is indexed. */
  readonly bin: string
  /** Fields of embedded parts that lead from the bin to the indexed value. */
  readonly steps?: readonly string[]
  /** Calculates the indexed value from the fields of the class. */
  readonly of?: IndexCalculation
  readonly on: 'value' | 'listElements' | 'mapKeys' | 'mapValues'
  readonly type: 'numeric' | 'string' | 'blob' | 'geo2dsphere'
  /** The property or relation that asked for it. */
  readonly property: string
}
