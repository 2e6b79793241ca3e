import { read } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionCounts } from '../write/companion-counts.js'
import { CompanionsInTransaction } from '../write/companions-in-transaction.js'
import { held, keysAmong, type LinkBin } from '../write/link-bin.js'
import type { BucketCommands } from './bucket-commands.js'
import type { BucketScheme } from './bucket-scheme.js'

/** Adds links to buckets inside a transaction: each record is written once, so the bucket is looked at before. */
export class BucketsInTransaction {
  readonly #commands: BucketCommands
  readonly #companions: CompanionsInTransaction
  readonly #layout: LinkBin
  readonly #bin: string
  readonly #counts: CompanionCounts | undefined

  constructor(
    commands: BucketCommands,
    scheme: BucketScheme,
    layout: LinkBin,
    bin: string,
    counts: CompanionCounts | undefined,
  ) {
    this.#commands = commands
    this.#companions = new CompanionsInTransaction(commands, scheme)
    this.#layout = layout
    this.#bin = bin
    this.#counts = counts
  }

  async add(
    at: StoredMember,
    time: number,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader: Reader,
  ): Promise<void> {
    const place = await this.#companions.find({ ...at, member: time }, reader)
    // Its refusal refuses all that belongs together.
    if (place === undefined) return draft.add(stage, held(this.#commands.model, at.owner), settle)
    const { home, shards, isThere } = place
    const isMember = isThere && this.#counts !== undefined && (await this.#has(home, at, reader))
    if (!isMember) await this.#counts?.addInside(at.owner, 1, draft, stage, reader)
    if (isThere) return draft.add(stage, this.#commands.put(at, home, shards), settle)
    this.#tell(at, home, shards, draft)
    draft.add(stage, this.#commands.bucket(at, time, home, shards), settle)
  }

  /** The owner lists each bucket, also one that the flush writes as a whole. */
  #tell(at: StoredMember, home: RecordKey, shards: number, draft: Draft): void {
    if (!draft.once(`list ${recordId(home)}`)) return
    const { isOwnerNew, isOwnerUpserted } = at
    const command =
      isOwnerNew === true || isOwnerUpserted === true
        ? this.#commands.listed(at.owner, [home], isOwnerNew === true ? 'mustNotExist' : 'upsert')
        : this.#commands.telling(at, shards, [home])
    draft.add('write', command, ({ state }) => state === 'written')
  }

  async #has(home: RecordKey, { member }: StoredMember, reader: Reader): Promise<boolean> {
    const question = this.#layout.among(this.#bin, [member])
    const [record] = await reader.read([read(this.#commands.model.name, home, 'none', [question])])
    return keysAmong(record?.bins[this.#bin]).length > 0
  }
}
