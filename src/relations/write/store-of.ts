import type { PartCodec } from '../../codec/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Value } from '../../plan/value.js'
import type { MemberStore } from '../contract/member-store.js'
import { BucketStore } from '../buckets/bucket-store.js'
import { GrowingStore } from '../growth/growing-store.js'
import { endedBinOf, endedOf } from './ended-bin.js'
import { CompanionStore } from './companion-store.js'
import { listBin, mapBin, type LinkBin } from './link-bin.js'
import { RecordStore } from './record-store.js'

/** Form in which a relation's bin holds keys. */
export function layoutOf({ attributes, endedBin }: RelationModel): LinkBin {
  if (attributes === undefined) return listBin
  return endedBin === undefined ? mapBin : { ...mapBin, ended: endedBinOf(endedBin) }
}

/** Store in which a relation of this class keeps the keys of its members, which are of the class `target`. */
export function storeOf(
  model: EntityModel,
  relation: RelationModel,
  target: EntityModel,
  attributes?: PartCodec,
): MemberStore {
  const layout = layoutOf(relation)
  if (relation.companions === undefined) return new RecordStore(model, relation, target, layout)
  if (relation.companions.buckets !== undefined) return new BucketStore(model, relation, target, layout, attributes)
  if (relation.companions.when === undefined) return new CompanionStore(model, relation, target, layout)
  const recode = attributes && ((carried: Value): Value => attributes.encode(attributes.decode(carried), 1))
  return GrowingStore.of(model, relation, target, layout, recode)
}

/** Store of the links that were ended, which are beside the others, in the same records. */
export function endedStoreOf(
  model: EntityModel,
  relation: RelationModel,
  target: EntityModel,
  attributes?: PartCodec,
): MemberStore {
  const { endedLinks } = storeOf(model, relation, target, attributes)
  return endedLinks ?? storeOf(model, endedOf(relation), target)
}
