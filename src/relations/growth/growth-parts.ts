import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Value } from '../../plan/value.js'
import { CompanionCounts } from '../write/companion-counts.js'
import { endedOf } from '../write/ended-bin.js'
import { mapBin, type LinkBin } from '../write/link-bin.js'
import { EndedLinkCommands } from './ended-link-commands.js'
import { GrowingChanges } from './growing-changes.js'
import { GrowingCommands } from './growing-commands.js'
import { GrowingInTransaction } from './growing-in-transaction.js'
import { GrowingReads } from './growing-reads.js'
import { GrowingScheme } from './growing-scheme.js'
import { Growth } from './growth.js'
import { MemberMoves } from './member-moves.js'
import { MoveAtOnce } from './move-at-once.js'
import { Mover } from './mover.js'
import { StoredLinks } from './stored-links.js'
import { Thresholds } from './thresholds.js'

/** Everything that works on the members of one collection that grows. */
export interface GrowthParts {
  readonly scheme: GrowingScheme
  readonly commands: GrowingCommands
  readonly mover: Mover
  readonly growth: Growth
  readonly changes: GrowingChanges
  readonly inside: GrowingInTransaction
  readonly reads: GrowingReads
  /** Set where owners count their members. */
  readonly counts: CompanionCounts | undefined
  /** True where links that were ended stay beside the others. */
  readonly keepsEnded: boolean
}

/** Form of the members of one collection: how their bin holds them, and how what it holds is stored anew by a move. */
interface GrownMembers {
  readonly target: EntityModel
  readonly layout: LinkBin
  readonly recode?: (carried: Value) => Value
  readonly counts?: CompanionCounts
}

const known = new WeakMap<RelationModel, GrowthParts>()

/** The parts of a relation, the same for all who store or ask: what one of them learns of an owner, the others know. */
export function growthPartsOf(
  model: EntityModel,
  relation: RelationModel,
  target: EntityModel,
  layout: LinkBin,
  recode?: (carried: Value) => Value,
): GrowthParts {
  let parts = known.get(relation)
  if (parts === undefined) {
    const scheme = new GrowingScheme(model, relation)
    const commands = new GrowingCommands(model, relation, layout, scheme)
    const counts = CompanionCounts.of(model, relation)
    known.set(relation, (parts = growthParts(relation, scheme, commands, { target, layout, recode, counts })))
  }
  return parts
}

export function growthParts<Commands extends GrowingCommands>(
  relation: RelationModel,
  scheme: GrowingScheme,
  commands: Commands,
  { target, layout, recode = (carried) => carried, counts }: GrownMembers,
): GrowthParts & { readonly commands: Commands } {
  const companions = relation.companions!
  const bin = relation.bin!
  const stored = new StoredLinks(bin, layout, target)
  const moved = { stored, commands, scheme, recode }
  const mover = new Mover(commands, scheme, new MemberMoves(moved), new MoveAtOnce(moved))
  const growth = new Growth(commands, scheme, mover, new Thresholds(companions.when!, bin), companions)
  return {
    scheme,
    commands,
    mover,
    growth,
    changes: new GrowingChanges(commands, scheme, mover, growth, counts),
    inside: new GrowingInTransaction(commands, scheme, mover, growth, counts && { counts, layout, bin }),
    reads: new GrowingReads(commands.model, relation, target, layout, scheme, mover, stored),
    counts,
    keepsEnded: layout.ended !== undefined,
  }
}

/** The parts of links that were ended: they are in the same records, and move with the others. */
export function endedParts(
  parts: GrowthParts,
  relation: RelationModel,
  target: EntityModel,
  stored: StoredLinks,
): GrowthParts {
  const { scheme, mover, growth } = parts
  const { model } = parts.commands
  const ended = endedOf(relation)
  const commands = new EndedLinkCommands(model, relation, scheme)
  return {
    scheme,
    commands,
    mover,
    growth,
    changes: new GrowingChanges(commands, scheme, mover, growth),
    inside: new GrowingInTransaction(commands, scheme, mover, growth),
    reads: new GrowingReads(model, ended, target, mapBin, scheme, mover, stored, 'ended'),
    counts: undefined,
    keepsEnded: true,
  }
}
