import type { EntityModel, RelationModel } from '../../model/index.js'
import { bin, eq, mapCount, value, type Expression } from '../../plan/expression.js'
import type { UserKey } from '../../plan/record-key.js'
import { endedOf } from '../write/ended-bin.js'
import { mapBin } from '../write/link-bin.js'
import { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'

/** Commands to the bin that keeps ended links, in the same records as the others. */
export class EndedLinkCommands extends GrowingCommands {
  readonly #links: string

  constructor(model: EntityModel, relation: RelationModel, scheme: GrowingScheme) {
    super(model, endedOf(relation), mapBin, scheme)
    this.#links = relation.bin!
  }

  /** A link that is there again is not an ended one. */
  override conditionsOf(member: UserKey): readonly Expression[] {
    return [eq(mapCount(bin('map', this.#links), member), value(0))]
  }
}
