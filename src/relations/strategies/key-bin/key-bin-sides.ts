import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { OwnerLists } from '../../contract/member-store.js'
import type { ListUpkeep } from '../../write/list-upkeep.js'

/** The two classes of a reference, and how the target finds the records that point to it. */
export interface KeyBinSides {
  readonly model: RelationModel
  readonly owner: EntityModel
  readonly target: EntityModel
  /** The list of our keys on the target. */
  readonly list: RelationModel | undefined
  /** Store in which targets keep that list. */
  readonly lists: OwnerLists | undefined
  readonly upkeep: ListUpkeep | undefined
  /** The collection of the target that finds us by an index on our bin. */
  readonly indexed: RelationModel | undefined
}
