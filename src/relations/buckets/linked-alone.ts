import type { WriteCommand } from '../../plan/command.js'
import { RETRIED, tolerating, type Draft, type Settle, type StageName } from '../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { BucketReads } from './bucket-reads.js'

/** A link on its way to its bucket. */
interface Linking {
  readonly at: StoredMember
  readonly home: RecordKey
  readonly stage: StageName
  readonly settle: Settle
}

type Put = (settle: Settle) => void | Promise<void>

/**
 * Puts links that were ended before: what is stored of them stays in the bucket of its date, and is taken out once the new link is there.
 * When a process dies between the two, the link is there and counts.
 */
export class LinkedAlone {
  readonly #ended: BucketReads
  readonly #forget: (home: RecordKey, member: UserKey) => WriteCommand

  constructor(ended: BucketReads, forget: (home: RecordKey, member: UserKey) => WriteCommand) {
    this.#ended = ended
    this.#forget = forget
  }

  /** Reads that follow from a settled command go between two stages, because nothing waits for them. */
  put(linking: Linking, draft: Draft, reader: Reader | undefined, put: Put): void | Promise<void> {
    if (reader !== undefined && (draft.isInside || !draft.isBegun)) return this.#plan(linking, draft, reader, put)
    draft.followUp((access) =>
      // The write itself tells why buckets cannot be read.
      this.#plan(linking, draft, access, put).catch(() => void put(linking.settle)),
    )
  }

  async #plan(linking: Linking, draft: Draft, reader: Pick<Reader, 'read'>, put: Put): Promise<void> {
    const { at, home, stage, settle } = linking
    const holders = await this.#ended.holders(at.owner, at.member, reader)
    const elsewhere = holders.filter((each) => recordId(each) !== recordId(home))
    if (elsewhere.length === 0) return put(settle)
    if (!draft.isTransaction) return put((outcome) => this.#thenForget(elsewhere, linking, outcome, draft))
    for (const each of elsewhere) {
      draft.tie(each, at.owner)
      draft.add(
        stage,
        this.#forget(each, at.member),
        tolerating(['missing'], () => undefined),
      )
    }
    return put(settle)
  }

  #thenForget(
    homes: readonly RecordKey[],
    { at, stage, settle }: Linking,
    put: Outcome,
    draft: Draft,
  ): ReturnType<Settle> {
    if (put.state !== 'written') return settle(put)
    const outcomes: Outcome[] = []
    for (const home of homes)
      draft.add(stage, this.#forget(home, at.member), (outcome) => {
        outcomes.push(outcome)
        if (outcomes.length < homes.length) return isWrittenOrMissing(outcome)
        return settle(outcomes.find((each) => !isWrittenOrMissing(each)) ?? put)
      })
    return RETRIED
  }
}
