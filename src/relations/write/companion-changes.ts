import type { SkeinError } from '../../errors/index.js'
import { RETRIED, type Draft, type Settle, type StageName } from '../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { WriteCommand } from '../../plan/command.js'
import { companionRefused } from '../contract/companion-errors.js'
import type { StoredMember } from '../contract/member-store.js'
import type { CompanionCommands } from './companion-commands.js'
import type { CompanionCounts } from './companion-counts.js'
import type { CompanionScheme, Shards } from './companion-scheme.js'
import { held, kept, refuseArchived } from './link-bin.js'

/** Times that a write is routed again: more than ever happen unless somebody splits the collection all the while. */
const TRIES = 4

/** A change on its way to the companion that it belongs to. */
interface Change {
  readonly at: StoredMember
  readonly stage: StageName
  readonly settle: Settle
  readonly left: number
  /** The command to the companion that holds the member. */
  readonly command: (home: RecordKey, shards: Shards) => WriteCommand
  /** Makes a companion that is missing, where that is not as good as done. */
  readonly create?: (home: RecordKey, shards: Shards) => WriteCommand
  /** Sends it again, where it is a change of several members that may belong in several companions now. */
  readonly reroute?: (left: number) => void
  /** Set when its members must be there: it changes them, and takes none out. */
  readonly needsMember?: boolean
  /** The change has conditions of its own: a refusal that the owner does not explain comes from them. */
  readonly hasConditions?: boolean
}

/** A change whose companion has refused it or was not there. */
interface Refused extends Change {
  readonly home: RecordKey
  readonly shards: Shards
  readonly outcome: Outcome
}

/** A member that has come with a new companion. */
interface Created extends Change {
  readonly home: RecordKey
  readonly outcome: Outcome
}

/**
 * Sends changes to companions stage by stage. Most are one command. Where the companion is not there, or says that it is one of another
 * number, the owner is told or asked: then the companion is made, or the change is routed again.
 */
export class CompanionChanges {
  readonly #commands: CompanionCommands
  readonly #scheme: CompanionScheme
  readonly #name: string
  readonly #counts: CompanionCounts | undefined

  constructor(commands: CompanionCommands, scheme: CompanionScheme, name: string, counts?: CompanionCounts) {
    this.#commands = commands
    this.#scheme = scheme
    this.#name = name
    this.#counts = counts
  }

  send(change: Omit<Change, 'left'>, draft: Draft, left = TRIES): void {
    const { owner, member, isOwnerNew = false } = change.at
    const shards = this.#scheme.shardsOf(owner)
    const home = this.#scheme.homeOf(owner, member, shards)
    // Of a record that the same flush creates there are no companions yet.
    if (isOwnerNew && left === TRIES && change.create !== undefined)
      return this.#create({ ...change, create: change.create, left }, home, draft)
    draft.add(change.stage, change.command(home, shards), (outcome) => {
      this.#counts?.written(owner, outcome, draft, change.stage)
      if (outcome.reason !== 'missing' && outcome.reason !== 'guard') return change.settle(outcome)
      if (left === 0) return this.#giveUp(change, owner, outcome)
      this.#tell({ ...change, left, home, shards, outcome }, draft)
      return RETRIED
    })
  }

  #again(change: Change, draft: Draft, left: number): void {
    if (change.reroute === undefined) this.send(change, draft, left)
    else change.reroute(left)
  }

  /** Tells the owner once for all adds of a stage, and once for all others: an owner that was deleted softly refuses only adds. */
  #tell(change: Refused, draft: Draft): void {
    const { at, stage } = change
    const isAdd = change.create !== undefined
    draft.collect(`${this.#name} tells ${recordId(at.owner)} ${stage} ${isAdd}`, change, (changes) => {
      const tell = this.#commands.tell(at.owner, this.#scheme.shardsOf(at.owner), missingAmong(changes))
      const command = isAdd ? this.#commands.admitting(tell) : tell
      draft.add(stage, command, (outcome) => {
        if (outcome.state === 'written') this.#scheme.learn(at.owner, this.#commands.told(outcome))
        return worst(changes.map((each) => this.#goOn(each, outcome, draft)))
      })
    })
  }

  #goOn(change: Refused, told: Outcome, draft: Draft): ReturnType<Settle> {
    const { at, create, home, shards, outcome, settle, left } = change
    if (told.state !== 'written') {
      // Nothing has to be taken out of what is gone, or goes, unless it has gone to the archive.
      const isDone =
        create === undefined && change.needsMember !== true && (told.reason === 'missing' || told.reason === 'guard')
      if (isDone && this.#commands.model.archive !== undefined) return refuseArchived(told, settle)
      return settle(isDone ? { ...outcome, reason: 'missing' } : told)
    }
    const isOther = this.#scheme.shardsOf(at.owner) !== shards
    if (!isOther && outcome.reason === 'guard' && change.hasConditions === true) return settle(outcome)
    if (isOther || outcome.reason === 'guard') this.#again(change, draft, left - 1)
    else if (create === undefined) return settle(outcome)
    else this.#create({ ...change, create }, home, draft)
    return true
  }

  #create(change: Change & Required<Pick<Change, 'create'>>, home: RecordKey, draft: Draft): void {
    const { at, stage, left, settle } = change
    draft.add(stage, change.create(home, this.#scheme.shardsOf(at.owner)), (outcome) => {
      if (outcome.reason === 'exists') {
        this.#again(change, draft, left - 1)
        return RETRIED
      }
      if (outcome.state !== 'written') return settle(outcome)
      this.#counts?.written(at.owner, outcome, draft, stage)
      this.#confirm({ ...change, home, outcome }, draft)
      return true
    })
  }

  /** The owner may have been deleted after it was told: then nobody would find the new companion to delete it. */
  #confirm(created: Created, draft: Draft): void {
    const { at, stage } = created
    draft.collect(`${this.#name} asks ${recordId(at.owner)} ${stage}`, created, (all) => {
      // A new owner may have been saved as deleted, with its members.
      const { model } = this.#commands
      const asked = at.isOwnerNew === true ? kept(model, at.owner) : held(model, at.owner)
      draft.add(stage, asked, (outcome) => {
        const isGone = outcome.reason === 'missing' || outcome.reason === 'guard'
        if (isGone) for (const { home } of all) this.#discard(at.owner, home, draft)
        return worst(all.map(({ settle, outcome: made }) => settle(isGone ? outcome : made)))
      })
    })
  }

  /** Marks the companion first: whoever adds to it meanwhile is refused, and asks the owner. */
  #discard(owner: RecordKey, home: RecordKey, draft: Draft): void {
    if (!draft.once(`discard ${recordId(home)}`)) return
    draft.add('undo', this.#commands.mark(home), (marked) => {
      if (marked.state === 'written')
        draft.add('undo', held(this.#commands.model, owner), ({ reason, state }) => {
          if (reason === 'missing' || reason === 'guard')
            draft.add('undo', this.#commands.drop(home), isWrittenOrMissing)
          // Another session has created the owner anew.
          else draft.add('undo', this.#commands.unmark(home), isWrittenOrMissing)
          return state === 'written' || reason === 'missing' || reason === 'guard'
        })
      return isWrittenOrMissing(marked)
    })
  }

  /** Neither gone nor stored: the change stays to be sent by the next flush. */
  #giveUp({ settle }: Pick<Change, 'settle'>, { key }: RecordKey, outcome: Outcome): ReturnType<Settle> {
    const error = companionRefused(this.#commands.model, key, this.#name)
    return settle({ ...outcome, reason: 'refused', error }) === true ? true : error
  }
}

/** Companions that members come into and that are not there. */
const missingAmong = (changes: readonly Refused[]): readonly RecordKey[] => {
  const homes = changes.filter(({ create, outcome }) => create !== undefined && outcome.reason === 'missing')
  return [...new Map(homes.map(({ home }) => [recordId(home), home])).values()]
}

/** The first failure, if any. */
function worst(answers: readonly ReturnType<Settle>[]): boolean | SkeinError {
  const error = answers.find((answer) => typeof answer === 'object')
  return error ?? !answers.includes(false)
}
