import type { EntityModel, IndexModel, RelationModel } from '../../model/index.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'

/** Companion records that an index has found, by the id of their owner's record. */
export type FoundHomes = Map<string, RecordKey[]>

/** Asks an index of a class for the records that point to one key. */
export interface IndexedBy {
  readonly model: EntityModel
  readonly index: IndexModel
  /** Index of the companions that children move to on demand; those that have not moved are found by the other one. */
  readonly apart?: IndexModel
  readonly value: UserKey
  /** Relations in the records that are read with them, also where no load needs them. */
  readonly along?: readonly string[]
  /** Includes records whose delete has begun. */
  readonly marked?: boolean
  /** Notes the companions that are found; an owner comes again with each step that finds more of them. */
  readonly homes?: FoundHomes
}

/** The index on the bin of the child that holds the parent's key; the model has checked that there is one. */
export function indexOn(child: EntityModel, ref: RelationModel): IndexModel {
  return child.indexes.find(({ bin, on }) => bin === ref.bin && on === 'value')!
}

/** The indexes on an inverse map of a class; undefined where it has none of that name. */
export function inverseIndexOn({ indexes }: EntityModel, bin: string): Pick<IndexedBy, 'index' | 'apart'> | undefined {
  const [index, apart] = indexes.filter((each) => each.bin === bin && each.on === 'mapKeys')
  return index && { index, ...(apart && { apart }) }
}
