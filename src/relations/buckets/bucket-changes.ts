import type { SkeinError } from '../../errors/index.js'
import type { EntityModel } from '../../model/index.js'
import type { WriteCommand } from '../../plan/command.js'
import { RETRIED, type Draft, type Settle, type StageName } from '../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionCounts } from '../write/companion-counts.js'
import type { Shards } from '../write/companion-scheme.js'
import { kept, refuseArchived, refusingArchived } from '../write/link-bin.js'
import type { BucketReads } from './bucket-reads.js'
import type { BucketScheme } from './bucket-scheme.js'

/** A change of a link that is there. */
interface LinkChange {
  readonly at: StoredMember
  readonly stage: StageName
  readonly settle: Settle
  readonly command: (home: RecordKey, shards: Shards, isNewest: boolean) => WriteCommand
  /** Removes also what is stored of a link that was ended. */
  readonly isForGood?: boolean
  /** Concerns the newest link to the member alone: it has several where it was added again on another day. */
  readonly isOfNewest?: boolean
  /** Error where no bucket has the link that is to be changed: it was removed, or its bucket has expired. */
  readonly gone?: () => SkeinError
  /** The bucket of a new link to the member, which stays. */
  readonly except?: RecordKey
  /** Called where no bucket has to be changed, with `except`. */
  readonly skip?: () => void
  /** By how much each command changes the number of links. */
  readonly delta: number
}

/** Sends changes to the buckets that have a member. Its key does not say which those are: all are asked before, in one batch. */
export class BucketChanges {
  readonly #model: EntityModel
  readonly #scheme: BucketScheme
  readonly #reads: BucketReads
  /** Reads of ended links, which may be in other buckets. */
  readonly #ended: BucketReads | undefined
  readonly #counts: CompanionCounts | undefined

  constructor(
    model: EntityModel,
    scheme: BucketScheme,
    reads: BucketReads,
    ended: BucketReads | undefined,
    counts: CompanionCounts | undefined,
  ) {
    this.#model = model
    this.#scheme = scheme
    this.#reads = reads
    this.#ended = ended
    this.#counts = counts
  }

  /** Reads that follow from a settled command go between two stages, because nothing waits for them. */
  send(change: LinkChange, draft: Draft, reader: Reader | undefined): void | Promise<void> {
    if (reader !== undefined && (draft.isInside || !draft.isBegun)) return this.#plan(change, draft, reader)
    draft.followUp((access) =>
      // The write to the newest known bucket tells why buckets cannot be read.
      this.#plan(change, draft, access).catch(() => this.#sendTo(this.#known(change.at.owner), change, draft)),
    )
  }

  async #plan(change: LinkChange, draft: Draft, reader: Pick<Reader, 'read'>): Promise<void> {
    const { owner, member } = change.at
    const [holders, ended = []] = await Promise.all([
      this.#reads.holders(owner, member, reader),
      change.isForGood === true ? this.#ended?.holders(owner, member, reader) : undefined,
    ])
    if (change.except !== undefined) return this.#planOthers(holders, change.except, change, draft, reader)
    if (change.gone !== undefined && holders.length === 0) return this.#report(change, change.gone, draft)
    const homes = change.isOfNewest === true ? holders.slice(-1) : distinct([...ended, ...holders])
    // A removal is settled with the transaction, after the write that it follows from: a bucket without the member is written for that.
    const isSent = homes.length > 0 || !draft.isInside || (change.delta < 0 && this.#scheme.homes(owner).length > 0)
    if (!isSent) {
      if (this.#mayBeArchived(owner, draft))
        return draft.add(change.stage, kept(this.#model, owner), refusingArchived(change.settle))
      const [nowhere] = this.#known(owner)
      const command = change.command(nowhere, this.#scheme.shardsOf(owner), true)
      return void change.settle({ command, state: 'notWritten', bins: {}, reason: 'missing' })
    }
    await this.#count(holders.length, change, draft, reader)
    this.#sendTo(homes.length === 0 ? this.#known(owner) : homes, change, draft)
  }

  async #planOthers(
    holders: readonly RecordKey[],
    except: RecordKey,
    change: LinkChange,
    draft: Draft,
    reader: Pick<Reader, 'read'>,
  ): Promise<void> {
    const others = holders.filter((home) => recordId(home) !== recordId(except))
    if (others.length === 0) return change.skip?.()
    await this.#count(others.length, change, draft, reader)
    this.#sendTo(others, change, draft)
  }

  /** Reports a link that is gone by itself: a command to a bucket without it would fail the other changes there, and a transaction as a whole. */
  #report({ at: { owner }, settle }: LinkChange, gone: () => SkeinError, draft: Draft): void {
    draft.add('remove references', kept(this.#model, owner), (outcome) => {
      const settled = settle({ ...outcome, state: 'notWritten', reason: 'missing' })
      return outcome.state === 'written' ? gone() : settled
    })
  }

  /** Counts what a change makes of so many buckets. */
  async #count(buckets: number, change: LinkChange, draft: Draft, reader: Pick<Reader, 'read'>): Promise<void> {
    const { at, stage } = change
    const delta = change.delta * buckets
    if (draft.isInside) await this.#counts?.addInside(at.owner, delta, draft, stage, reader)
    // A transaction looks again: somebody may add the member meanwhile.
    else if (draft.isTransaction || delta !== 0) this.#counts?.plan(at.owner, delta || change.delta, draft, stage)
  }

  /** The newest bucket that is known: a command there settles a change that no bucket has to make. */
  #known(owner: RecordKey): readonly RecordKey[] {
    const newest = this.#scheme.homes(owner).at(-1) ?? this.#scheme.homeOf(owner, Date.now())
    return [newest]
  }

  /** Settles the change once. Outside of a transaction the newest link goes last: until then nothing else is shown in its place. */
  #sendTo(homes: readonly RecordKey[], sent: LinkChange, draft: Draft): void {
    const change = this.#mayBeArchived(sent.at.owner, draft) ? this.#asking(sent, draft) : sent
    const [older, newest] = [homes.slice(0, -1), homes.slice(-1)]
    const settle = settledOnce(homes.length, change.settle)
    if (draft.isTransaction || older.length === 0) return this.#sendAll(homes, newest, change, settle, draft)
    const first = settledOnce(older.length, (outcome) => {
      if (!isWrittenOrMissing(outcome)) return change.settle(outcome)
      this.#sendAll(newest, newest, change, (last) => change.settle(isMissing(last) ? outcome : last), draft)
      return RETRIED
    })
    this.#sendAll(older, newest, change, first, draft)
  }

  #sendAll(
    homes: readonly RecordKey[],
    [newest]: readonly RecordKey[],
    { at, stage, command }: LinkChange,
    settle: Settle,
    draft: Draft,
  ): void {
    for (const home of homes) {
      draft.tie(home, at.owner)
      draft.add(stage, command(home, this.#scheme.shardsOf(at.owner), home === newest), (outcome) => {
        if (!draft.isTransaction) this.#counts?.written(at.owner, outcome, draft, stage)
        return settle(outcome)
      })
    }
  }

  /** A bucket that is closed or missing may be in the archive, with its owner and the link. */
  #mayBeArchived(owner: RecordKey, draft: Draft): boolean {
    return this.#model.archive !== undefined && !draft.isDeleting(owner)
  }

  /** Copies the change so that its owner is asked where a bucket has refused it. */
  #asking(change: LinkChange, draft: Draft): LinkChange {
    const { at, stage, settle } = change
    const settled: Settle = (outcome) => {
      if (outcome.reason !== 'missing' && outcome.reason !== 'guard') return settle(outcome)
      draft.add(stage, kept(this.#model, at.owner), (told) =>
        told.state === 'written' ? settle(outcome) : refuseArchived(told, settle),
      )
      return RETRIED
    }
    return { ...change, settle: settled }
  }
}

/** Settles a change that so many commands make: with a failure of one, or else with a write. */
function settledOnce(commands: number, settle: Settle): Settle {
  const outcomes: Outcome[] = []
  return (outcome) => {
    outcomes.push(outcome)
    if (outcomes.length < commands) return isWrittenOrMissing(outcome)
    return settle(outcomes.find((each) => !isWrittenOrMissing(each)) ?? outcomes.find(isWritten) ?? outcome)
  }
}

const distinct = (homes: readonly RecordKey[]): readonly RecordKey[] => [
  ...new Map(homes.map((home) => [recordId(home), home])).values(),
]

const isWritten = ({ state }: Outcome): boolean => state === 'written'

const isMissing = ({ state, reason }: Outcome): boolean => state !== 'written' && reason === 'missing'
