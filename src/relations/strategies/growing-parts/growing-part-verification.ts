import type { RecordKey } from '../../../plan/record-key.js'
import type { GrowingMembers } from '../../contract/growing-members.js'
import type { PartsApart } from '../../contract/inside-verification.js'
import { ROOT } from '../../growth/placement.js'
import { CompanionPartVerification } from '../companion-parts/companion-part-verification.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { GrowingPartHomes } from './growing-part-homes.js'

/** Children in their owner's record or in companions, as the owner says. */
export class GrowingPartVerification extends CompanionPartVerification implements PartsApart {
  readonly growing: GrowingMembers
  readonly #places: GrowingPartHomes

  constructor(parts: PartClass, homes: GrowingPartHomes) {
    super(parts, homes)
    this.growing = homes
    this.#places = homes
  }

  isInOwner(owner: RecordKey): boolean {
    return this.#places.placement(owner).shards === ROOT
  }
}
