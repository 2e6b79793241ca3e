import type { KeyValue } from '../keys/index.js'
import type { RelationModel } from '../model/index.js'
import type { Contributor, Reader, Tracked } from './contributor.js'
import type { LinkVerification } from './verify/stored-link.js'
import type { Member } from './member-set.js'

/** A part of a collection, in the order the server keeps it. */
export interface KeyRange {
  readonly offset: number
  readonly count: number
}

/** How one relation of one class is stored: a contributor to loads, saves and deletes, and for a collection what the server can tell without loading it. */
export interface RelationStrategy extends Contributor {
  readonly relation: string
  readonly model: RelationModel
  /** The bins that must be read with the record so that this relation is loaded with it. */
  readonly bins: readonly string[]
  /** Loads the related entities of all these entities at once, and says which they are. */
  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]>
  readonly members?: CollectionMembers
  /** Absent where nothing is stored that could disagree with another record. */
  readonly verification?: LinkVerification
  /** Throws when a Ref cannot point to this. */
  accept?(owner: Tracked, target: Member | null, reader: Reader): void
  /** Where the other has the same key, it can be read together with this entity: takes over what was found. */
  meet?(owner: Tracked, other: Tracked | null): void
}

/** Questions about the members of a collection, each answered by one command. */
export interface CollectionMembers {
  count(owner: Tracked, reader: Reader): Promise<number>
  /** How many of these keys are members. */
  countOf(owner: Tracked, keys: readonly KeyValue[], reader: Reader): Promise<number>
  keys(owner: Tracked, reader: Reader, range?: KeyRange): Promise<readonly KeyValue[]>
}
