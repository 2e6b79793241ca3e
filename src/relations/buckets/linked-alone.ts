import type { WriteCommand } from '../../plan/command.js'
import { tolerating, type Draft, type StageName } from '../../plan/draft.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { BucketReads } from './bucket-reads.js'

/** A link on its way to its bucket. */
interface Linking {
  readonly at: StoredMember
  readonly home: RecordKey
  readonly stage: StageName
}

/** Puts links that were ended before, in a transaction that also drops what is stored of them in buckets of other dates. */
export class LinkedAlone {
  readonly #ended: BucketReads
  readonly #forget: (home: RecordKey, member: UserKey) => WriteCommand

  constructor(ended: BucketReads, forget: (home: RecordKey, member: UserKey) => WriteCommand) {
    this.#ended = ended
    this.#forget = forget
  }

  async put(
    { at, home, stage }: Linking,
    draft: Draft,
    reader: Pick<Reader, 'read'>,
    put: () => void | Promise<void>,
  ): Promise<void> {
    for (const each of await this.#ended.holders(at.owner, at.member, reader)) {
      if (recordId(each) === recordId(home)) continue
      draft.tie(each, at.owner)
      const forgotten = tolerating(['missing'], () => undefined)
      draft.add(stage, this.#forget(each, at.member), forgotten)
    }
    return put()
  }
}
