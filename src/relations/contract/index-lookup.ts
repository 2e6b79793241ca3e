import type { EntityModel, IndexModel, RelationModel } from '../../model/index.js'
import type { UserKey } from '../../plan/record-key.js'

/** Asks an index of a class for the records that point to one key. */
export interface IndexedBy {
  readonly model: EntityModel
  readonly index: IndexModel
  readonly value: UserKey
  /** Relations in the records that are read with them, also where no load needs them. */
  readonly along?: readonly string[]
  /** Includes records whose delete has begun. */
  readonly marked?: boolean
}

/** The index on the bin of the child that holds the parent's key; the model has checked that there is one. */
export function indexOn(child: EntityModel, ref: RelationModel): IndexModel {
  return child.indexes.find(({ bin, on }) => bin === ref.bin && on === 'value')!
}
