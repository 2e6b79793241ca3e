import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { RecordKey, UserKey } from '../../../plan/record-key.js'
import type { MemberStore, OwnerLists } from '../../contract/member-store.js'
import { storedRef } from '../../contract/member.js'
import type { LinkBin } from '../../write/link-bin.js'

/** The two sides of a many-to-many relation, and where they keep their links. */
export interface LinkListSides {
  readonly model: RelationModel
  readonly owner: EntityModel
  /** The owner, or the several classes that the other side leads to one of. */
  readonly owners: EntityModel
  readonly target: EntityModel
  readonly inverse: RelationModel | undefined
  readonly bin: LinkBin
  readonly store: MemberStore
  /** Stores in which the other side keeps its links; of several classes, the record says which. */
  readonly otherLists: OwnerLists | undefined
}

/** The value under which this side holds a record of the other. */
export const heldHere = ({ target }: LinkListSides, other: RecordKey): UserKey => storedRef(target, other)

/** The value under which the other side holds a record of this one. */
export const heldThere = ({ inverse }: LinkListSides, own: RecordKey): UserKey => storedRef(inverse ?? {}, own)
