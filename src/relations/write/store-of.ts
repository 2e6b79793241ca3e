import type { EntityModel, RelationModel } from '../../model/index.js'
import type { MemberStore } from '../contract/member-store.js'
import { CompanionStore } from './companion-store.js'
import { listBin, mapBin, type LinkBin } from './link-bin.js'
import { RecordStore } from './record-store.js'

/** How a relation's bin holds keys. */
export const layoutOf = ({ attributes }: RelationModel): LinkBin => (attributes === undefined ? listBin : mapBin)

/** Where a relation of this class keeps the keys of its members, which are of the class `target`. */
export function storeOf(model: EntityModel, relation: RelationModel, target: EntityModel): MemberStore {
  const Store = relation.companions === undefined ? RecordStore : CompanionStore
  return new Store(model, relation, target, layoutOf(relation))
}
