import type { RelationModel } from '../../model/index.js'
import type { WriteOperation } from '../../plan/operation.js'
import { mapPut, mapRemoveKeys, mapSetAside } from '../../plan/operations.js'
import type { UserKey } from '../../plan/record-key.js'
import type { EndedLink } from '../contract/ended-entries.js'

/** The bin that keeps links which were ended: a map from the member's key to an `EndedLink`. */
export interface EndedBin {
  readonly name: string
  /** Keeps the link that `bin` holds, to be taken out of there by the same command. */
  keep(bin: string, other: UserKey, at: number): WriteOperation
  /** Keeps a link as the other end does. */
  copy(other: UserKey, link: EndedLink): WriteOperation
  /** Drops links that are there again, or are removed for good. */
  forget(others: readonly UserKey[]): WriteOperation
}

/** Ended links are members of a bin of their own. */
export const endedOf = (relation: RelationModel): RelationModel => ({
  ...relation,
  bin: relation.endedBin!,
  endedBin: undefined,
})

export const endedBinOf = (name: string): EndedBin => ({
  name,
  keep: (bin, other, at) => mapSetAside(name, bin, other, at),
  copy: (other, link) => mapPut(name, other, link),
  forget: (others) => mapRemoveKeys(name, others),
})
