import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { Value } from '../../../plan/value.js'
import { GrowingChanges } from '../../growth/growing-changes.js'
import { GrowingInTransaction } from '../../growth/growing-in-transaction.js'
import { GrowingReads } from '../../growth/growing-reads.js'
import { GrowingScheme } from '../../growth/growing-scheme.js'
import { Growth } from '../../growth/growth.js'
import { MemberMoves } from '../../growth/member-moves.js'
import { MoveAtOnce } from '../../growth/move-at-once.js'
import { Mover } from '../../growth/mover.js'
import { Thresholds } from '../../growth/thresholds.js'
import type { PartClass } from '../consolidate/part-class.js'
import { GrowingPartCommands } from './growing-part-commands.js'
import { partBin } from './part-bin.js'

/** Everything that works on the children of one collection that grows. */
export interface PartGrowth {
  readonly scheme: GrowingScheme
  readonly commands: GrowingPartCommands
  readonly mover: Mover
  readonly growth: Growth
  readonly changes: GrowingChanges
  readonly inside: GrowingInTransaction
  readonly reads: GrowingReads
}

const known = new WeakMap<RelationModel, PartGrowth>()

/** Shared by all who store or read: what one of them learns of an owner, the others know. */
export function partGrowthOf(model: EntityModel, parts: PartClass): PartGrowth {
  let growth = known.get(parts.relation)
  if (growth === undefined) known.set(parts.relation, (growth = make(model, parts)))
  return growth
}

const asStored = (child: Value): Value => child

function make(model: EntityModel, parts: PartClass): PartGrowth {
  const { relation } = parts
  const { companions, bin } = relation
  const layout = partBin(parts)
  const scheme = new GrowingScheme(model, relation)
  const commands = new GrowingPartCommands(model, parts, scheme)
  // Children say their ids themselves, so no class of members is asked for them.
  const moved = { bin: bin!, target: model, layout, commands, scheme, recode: asStored }
  const mover = new Mover(commands, scheme, new MemberMoves(moved), new MoveAtOnce(moved))
  const growth = new Growth(commands, scheme, mover, new Thresholds(companions!.when!, bin!), companions!)
  return {
    scheme,
    commands,
    mover,
    growth,
    changes: new GrowingChanges(commands, scheme, mover, growth),
    inside: new GrowingInTransaction(commands, scheme, mover, growth),
    reads: new GrowingReads(model, relation, model, layout, scheme, mover),
  }
}
