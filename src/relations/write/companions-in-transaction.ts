import { ARCHIVING_BIN, COMPANION_SHARDS_BIN, DELETING_BIN } from '../../model/index.js'
import { read, type WriteCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin } from '../../plan/operations.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { beingArchived } from '../contract/companion-errors.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionCommands } from './companion-commands.js'
import type { CompanionCounts } from './companion-counts.js'
import type { CompanionScheme, Shards } from './companion-scheme.js'
import { held, keysAmong, refusingArchived, type LinkBin } from './link-bin.js'

type CommandTo = (home: RecordKey, shards: Shards) => WriteCommand

/** The bin that holds members, where they are counted. */
interface Held {
  readonly layout: LinkBin
  readonly bin: string
  readonly counts: CompanionCounts
}

/** Place where a change belongs, as the transaction has read it. */
export interface CompanionPlace {
  readonly home: RecordKey
  readonly shards: Shards
  /** False where the companion has to be made. */
  readonly isThere: boolean
  /** True where it has the member; known only of collections that are counted. */
  readonly isMember: boolean
}

/**
 * Plans changes to companions inside a transaction: each record is written once, so the companion is looked at before. Its owner is read only
 * where the companion does not settle it, so that other writers of the owner are not a conflict.
 */
export class CompanionsInTransaction {
  readonly #commands: CompanionCommands
  readonly #scheme: CompanionScheme
  readonly #held: Held | undefined

  constructor(commands: CompanionCommands, scheme: CompanionScheme, held?: Held) {
    this.#commands = commands
    this.#scheme = scheme
    this.#held = held
  }

  async add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader: Reader): Promise<void> {
    const place = await this.find(at, reader)
    // Its refusal refuses all that belongs together.
    if (place === undefined) return draft.add(stage, held(this.#commands.model, at.owner), settle)
    const { home, shards, isThere, isMember } = place
    if (!isMember) await this.#held?.counts.addInside(at.owner, 1, draft, stage, reader)
    if (isThere) return draft.add(stage, this.#commands.put(at, home, shards), settle)
    // An owner that the flush writes as a whole says it in that write.
    const isWhole = at.isOwnerNew === true || at.isOwnerUpserted === true
    if (!isWhole && draft.once(`tell ${recordId(at.owner)} ${this.#scheme.subkeys}`))
      draft.add('write', this.#commands.telling(at, shards), ({ state }) => state === 'written')
    draft.add(stage, this.#commands.create(at, home, shards), settle)
  }

  /** Changes or takes out a member, which makes so many more; of what is not there nothing has to be taken out. */
  async change(
    at: StoredMember,
    command: CommandTo,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader: Reader,
    delta = 0,
  ): Promise<void> {
    const place = await this.find(at, reader)
    if (place?.isMember === true) await this.#held?.counts.addInside(at.owner, delta, draft, stage, reader)
    if (place?.isThere === true) return draft.add(stage, command(place.home, place.shards), settle)
    const { model } = this.#commands
    // An owner that is not there may have gone to the archive, with this member.
    if (place === undefined && model.archive !== undefined && !draft.isDeleting(at.owner))
      return draft.add(stage, held(model, at.owner), refusingArchived(settle))
    const home = this.#scheme.homeOf(at.owner, at.member)
    const nowhere = command(home, this.#scheme.shardsOf(at.owner))
    draft.beforeSending(() => void settle({ command: nowhere, state: 'notWritten', bins: {}, reason: 'missing' }))
  }

  /** Undefined where the owner is gone or being deleted. */
  async find(
    { owner, member, isOwnerNew, isOwnerUpserted, isOwnerMade }: StoredMember,
    reader: Reader,
  ): Promise<CompanionPlace | undefined> {
    for (;;) {
      const shards = this.#scheme.shardsOf(owner)
      const home = this.#scheme.homeOf(owner, member, shards)
      const record = await this.#read(home, [COMPANION_SHARDS_BIN, DELETING_BIN], reader, this.#asking(member))
      const isMember = this.#held !== undefined && keysAmong(record?.bins[this.#held.bin]).length > 0
      if (record?.bins[COMPANION_SHARDS_BIN] === shards && record.bins[DELETING_BIN] == null)
        return { home, shards, isThere: true, isMember }
      if (isOwnerNew === true) return { home, shards, isThere: record !== null, isMember }
      const root = await this.#read(owner, [this.#scheme.subkeys, DELETING_BIN, ARCHIVING_BIN], reader)
      if (root?.bins[ARCHIVING_BIN] != null) throw beingArchived(this.#commands.model, owner.key)
      const mayBeMissing = isOwnerUpserted === true || isOwnerMade === true
      if (root === null ? !mayBeMissing : root.bins[DELETING_BIN] != null) return undefined
      this.#scheme.learn(owner, root?.bins)
      if (this.#scheme.shardsOf(owner) === shards) return { home, shards, isThere: record !== null, isMember }
    }
  }

  #asking(member: UserKey): readonly ReadOperation[] {
    return this.#held === undefined ? [] : [this.#held.layout.among(this.#held.bin, [member])]
  }

  async #read(
    key: RecordKey,
    bins: readonly string[],
    reader: Reader,
    questions: readonly ReadOperation[] = [],
  ): Promise<StoredRecord | null> {
    const command =
      questions.length === 0
        ? read(this.#commands.model.name, key, bins)
        : read(this.#commands.model.name, key, 'none', [...bins.map(readBin), ...questions])
    const [record] = await reader.read([command])
    return record
  }
}
