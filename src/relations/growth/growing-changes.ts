import type { SkeinError } from '../../errors/index.js'
import type { WriteCommand } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import { RETRIED, type Draft, type Settle, type StageName } from '../../plan/draft.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { companionRefused } from '../contract/companion-errors.js'
import type { StoredMember } from '../contract/member-store.js'
import type { CompanionCounts } from '../write/companion-counts.js'
import { refuseArchived } from '../write/link-bin.js'
import type { SplitAccess } from '../../plan/split-access.js'
import { areMet, askingFor } from './conditions.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Growth } from './growth.js'
import type { Mover } from './mover.js'
import { isMoving, ROOT, samePlacement, type ChangeKind, type Placement } from './placement.js'

/** Times that a write is routed again: more than ever happen unless somebody splits the collection all the while. */
const TRIES = 8

/** A change on its way to the record that it belongs in. */
export interface Change {
  readonly kind: ChangeKind
  readonly at: StoredMember
  readonly stage: StageName
  readonly settle: Settle
  readonly command: (home: RecordKey, placement: Placement, isInside?: boolean) => WriteCommand
  /** The change depends on what is stored of the member: while members move, that must come first. */
  readonly needsMember: boolean
  /** Set where a change without its member would lose what is stored of it: then it fails where the member cannot be brought. */
  readonly mustBring?: boolean
  /** All members that it concerns, where those are several. */
  readonly members?: readonly UserKey[]
  /** Sends it again, where it is a change of several members that may belong in several records now. */
  readonly reroute?: (left: number, route: Route) => void
  /** Conditions of its own: a refusal that the owner does not explain may come from them. */
  readonly conditions?: readonly Expression[]
}

/** A change that was refused, and how it was sent. */
interface Refused extends Change {
  readonly left: number
  readonly isMissed: boolean
  readonly placement: Placement
  readonly outcome: Outcome
}

/** Knowledge about the route beyond where members are. */
export interface Route {
  /** The home has got all its members, and does not know of the move any more. */
  readonly isComplete?: boolean
  /** The member has been brought to its home. */
  readonly isPulled?: boolean
  /** Set when its home was missing before: it may have been made meanwhile, if the owner has got that number of shards again. */
  readonly isMissed?: boolean
}

/**
 * Sends changes of members to the record that holds them: one command, as long as what is known of the owner is true. A
 * record that is no longer a home refuses it; then the owner is asked, and the change is routed again.
 */
export class GrowingChanges {
  readonly #commands: GrowingCommands
  readonly #scheme: GrowingScheme
  readonly #mover: Mover
  readonly #growth: Growth
  readonly #counts: CompanionCounts | undefined

  constructor(
    commands: GrowingCommands,
    scheme: GrowingScheme,
    mover: Mover,
    growth: Growth,
    counts?: CompanionCounts,
  ) {
    this.#commands = commands
    this.#scheme = scheme
    this.#mover = mover
    this.#growth = growth
    this.#counts = counts
  }

  send(
    change: Change,
    draft: Draft,
    left = TRIES,
    { isComplete = false, isPulled = false, isMissed = false }: Route = {},
  ): void {
    const { at, stage, settle } = change
    const known = this.#scheme.of(at.owner)
    if (known.shards !== ROOT && this.#isDeferred(change, draft)) return
    if (isMoving(known) && !isComplete && change.needsMember && !isPulled) return this.#bring(change, draft, left)
    const placement = isComplete ? { shards: known.shards } : known
    const home = this.#scheme.homeOf(at.owner, at.member, placement.shards)
    const isRoot = recordId(home) === recordId(at.owner)
    this.#add(draft, stage, change.command(home, placement), isRoot, (outcome) => {
      if (isRoot && outcome.reason === 'missing') return this.#withoutOwner(change, outcome)
      if (outcome.state === 'written') {
        // The owner's own record counts by itself what changes in it.
        if (!isRoot) this.#counts?.written(at.owner, outcome, draft, stage)
        this.#growth.written(change.kind, at.owner, known, outcome, draft)
        return settle(outcome)
      }
      if (outcome.reason === 'tooLarge' && left > 0 && this.#growth.mayGrow(known))
        return this.#splitFirst(change, draft, left)
      if (outcome.reason !== 'missing' && outcome.reason !== 'guard') return settle(outcome)
      if (left === 0) return this.#giveUp(change, outcome)
      if (!this.#isDeferred(change, draft)) this.#ask({ ...change, left, placement, outcome, isMissed }, draft)
      return RETRIED
    })
  }

  /** Companions and the count of their members change together where there are transactions. */
  #isDeferred({ at }: Change, draft: Draft): boolean {
    return this.#counts !== undefined && draft.deferToTransaction(at.owner)
  }

  /** Other changes of the owner's record must not be refused because its members are elsewhere. */
  #add(draft: Draft, stage: StageName, command: WriteCommand, isRoot: boolean, settle: Settle): void {
    if (!isRoot) draft.add(stage, command, settle)
    else if (!draft.isTransaction) draft.addApart(stage, command, settle, this.#commands.group)
    // Only a survey of what a transaction will write: where it needs none, it is planned again in stages.
    else draft.add(stage, command, Object.assign(settle, { tolerates: ['guard'] as const }))
  }

  /**
   * Brings the member to its home first. A survey of what a transaction would write is planned again before the owner is sent: it only says
   * that the owner takes part. Once a part of the survey is under way, what it has to send again is not planned again.
   */
  #bring(change: Change, draft: Draft, left: number): void {
    const isSurvey = draft.isTransaction && left === TRIES
    if (!isSurvey) return draft.followUp((access) => this.#pullFirst(change, draft, left, access))
    const { at, stage, settle, kind } = change
    const settled = (outcome: Outcome): ReturnType<Settle> => settle(outcome)
    draft.add(stage, this.#commands.hold(at.owner, kind), Object.assign(settled, { tolerates: ['guard'] as const }))
  }

  async #pullFirst(change: Change, draft: Draft, left: number, access: SplitAccess): Promise<void> {
    const { owner, member } = change.at
    const isPulled = await this.#mover.pull(owner, change.members ?? [member], access).then(
      () => true,
      () => false,
    )
    // The write itself will tell where that fails.
    if (isPulled || change.mustBring !== true) return this.#again(change, draft, left, { isPulled: true })
    const placement = this.#scheme.of(owner)
    const command = change.command(this.#scheme.homeOf(owner, member, placement.shards), placement)
    const outcome: Outcome = { command, state: 'notWritten', bins: {}, reason: 'guard' }
    if (left === 0) this.#giveUp(change, outcome)
    else this.#ask({ ...change, left, placement, outcome, isMissed: false }, draft)
  }

  #splitFirst(change: Change, draft: Draft, left: number): typeof RETRIED {
    draft.followUp(async (access) => {
      await this.#growth.split(change.at.owner, 'tooLarge', access)
      this.#again(change, draft, Math.min(left - 1, 1))
    })
    return RETRIED
  }

  #again(change: Change, draft: Draft, left: number, route: Route = {}): void {
    if (change.reroute === undefined) this.send(change, draft, left, route)
    else change.reroute(left, route)
  }

  /** Asks the owner once for all changes of a stage. */
  #ask(change: Refused, draft: Draft): void {
    const { at, stage, kind } = change
    const isAdd = kind === 'add'
    draft.collect(`${this.#commands.group} asks ${recordId(at.owner)} ${stage} ${isAdd}`, change, (changes) => {
      draft.addApart(
        stage,
        this.#commands.ask(at.owner, kind),
        (outcome) => {
          if (outcome.state === 'written') this.#scheme.learn(at.owner, this.#commands.told(outcome))
          return worst(changes.map((each) => this.#goOn(each, outcome, draft)))
        },
        `${this.#commands.group} asks${isAdd ? ' for more' : ''}`,
      )
    })
  }

  #goOn(change: Refused, told: Outcome, draft: Draft): ReturnType<Settle> {
    const { at, kind, placement, outcome, settle } = change
    if (told.state !== 'written') {
      // Nothing has to be taken out of what is gone, or goes, unless it has gone to the archive.
      const isDone = kind !== 'add' && (told.reason === 'missing' || told.reason === 'guard')
      if (isDone && this.#commands.model.archive !== undefined) return refuseArchived(told, settle)
      return settle(isDone ? { ...outcome, reason: 'missing' } : told)
    }
    const now = this.#scheme.of(at.owner)
    const mayConflict = (change.conditions?.length ?? 0) > 0 && outcome.reason === 'guard'
    const isStill = samePlacement(now, placement) || (isMoving(now) && samePlacement({ shards: now.shards }, placement))
    return mayConflict && isStill ? this.#examine(change, draft) : this.#reroute(change, draft)
  }

  /** An owner that is missing may be in the archive, with the member that was to be taken out. */
  #withoutOwner({ kind, settle }: Change, outcome: Outcome): ReturnType<Settle> {
    const mayBeArchived = kind === 'remove' && this.#commands.model.archive !== undefined
    return mayBeArchived ? refuseArchived(outcome, settle) : settle(outcome)
  }

  /** Sends a change again to where its member is by now, once that is ready for it. */
  #reroute(change: Refused, draft: Draft): ReturnType<Settle> {
    const { at, placement, outcome, left } = change
    const now = this.#scheme.of(at.owner)
    if (now.move?.phase === 'prepare')
      draft.followUp(async (access) => {
        await this.#mover.prepare(at.owner, access).catch(() => undefined)
        this.#again(change, draft, left - 1)
      })
    else if (isMoving(now)) {
      const isSame = isMoving(placement) && placement.move!.id === now.move!.id
      if (isSame && outcome.reason === 'missing') this.#mendFirst(change, draft, left - 1)
      else this.#again(change, draft, left - 1, { isComplete: isSame })
    } else if (outcome.reason === 'missing' && now.shards !== ROOT && now.shards === placement.shards)
      return this.#withoutHome(change, draft)
    else if (outcome.reason === 'guard' && now.shards !== ROOT && now.shards === placement.shards)
      this.#openFirst(change, draft)
    else this.#again(change, draft, left - 1)
    return true
  }

  /** Its home is where it was: either the change's own conditions do not hold, or members have moved away and back meanwhile. */
  #examine(change: Refused, draft: Draft): ReturnType<Settle> {
    const { stage, placement, outcome, settle, conditions } = change
    const command = this.#commands.change(askingFor(conditions!), outcome.command.key, placement)
    draft.addApart(stage, command, (told) =>
      told.state === 'written' && !areMet(told) ? settle(outcome) : this.#reroute(change, draft),
    )
    return true
  }

  /** A companion that is closed though no members move is opened. */
  #openFirst(change: Refused, draft: Draft): void {
    const { owner, member } = change.at
    draft.followUp(async (access) => {
      await this.#growth.makeHome(owner, member, access).catch(() => undefined)
      this.#again(change, draft, change.left - 1)
    })
  }

  /** A home that is missing though members move to it is made anew. */
  #mendFirst(change: Change, draft: Draft, left: number): void {
    draft.followUp(async (access) => {
      await this.#mover.mend(change.at.owner, access).catch(() => undefined)
      this.#again(change, draft, left)
    })
  }

  /** A companion that was never made: a class may have made them when they got their first member. */
  #withoutHome(change: Refused, draft: Draft): ReturnType<Settle> {
    const { left, outcome, isMissed } = change
    if (change.kind !== 'add' && isMissed) return change.settle(outcome)
    if (change.kind !== 'add') {
      this.#again(change, draft, left - 1, { isMissed: true })
      return true
    }
    const { owner, member } = change.at
    draft.followUp(async (access) => {
      await this.#growth.makeHome(owner, member, access)
      this.#again(change, draft, left - 1)
    })
    return true
  }

  /** Neither gone nor stored: the change stays to be sent by the next flush. */
  #giveUp({ settle, at }: Change, outcome: Outcome): ReturnType<Settle> {
    const error = companionRefused(this.#commands.model, at.owner.key, this.#commands.property)
    return settle({ ...outcome, reason: 'refused', error }) === true ? true : error
  }
}

/** The first failure, if any. */
function worst(answers: readonly ReturnType<Settle>[]): boolean | SkeinError {
  const error = answers.find((answer) => typeof answer === 'object')
  return error ?? !answers.includes(false)
}
