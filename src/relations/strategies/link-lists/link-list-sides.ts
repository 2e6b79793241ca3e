import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { MemberStore } from '../../contract/member-store.js'
import type { LinkBin } from '../../write/link-bin.js'

/** The two sides of a many-to-many relation, and where they keep their links. */
export interface LinkListSides {
  readonly model: RelationModel
  readonly owner: EntityModel
  readonly target: EntityModel
  readonly inverse: RelationModel | undefined
  readonly bin: LinkBin
  readonly store: MemberStore
  /** Store in which the other side keeps its links. */
  readonly otherStore: MemberStore | undefined
}
