import type { EntityModel, RelationModel } from '../../../model/index.js'
import { growthParts, type GrowthParts } from '../../growth/growth-parts.js'
import { GrowingScheme } from '../../growth/growing-scheme.js'
import { CompanionCounts } from '../../write/companion-counts.js'
import type { PartClass } from '../consolidate/part-class.js'
import { GrowingPartCommands } from './growing-part-commands.js'
import { partBin } from './part-bin.js'

/** Everything that works on the children of one collection that grows. */
export type PartGrowth = GrowthParts & { readonly commands: GrowingPartCommands }

const known = new WeakMap<RelationModel, PartGrowth>()

/** Shared by all who store or read: what one of them learns of an owner, the others know. */
export function partGrowthOf(model: EntityModel, parts: PartClass): PartGrowth {
  const { relation } = parts
  let growth = known.get(relation)
  if (growth === undefined) {
    const scheme = new GrowingScheme(model, relation)
    const commands = new GrowingPartCommands(model, parts, scheme)
    // Children say their ids themselves, so no class of members is asked for them.
    const grown = { target: model, layout: partBin(parts), counts: CompanionCounts.of(model, relation) }
    known.set(relation, (growth = growthParts(relation, scheme, commands, grown)))
  }
  return growth
}
