import { COMPANION_SHARDS_BIN, DELETING_BIN } from '../../model/index.js'
import { read, type WriteCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionCommands } from './companion-commands.js'
import type { CompanionScheme, Shards } from './companion-scheme.js'
import { held } from './key-list-bin.js'

type CommandTo = (home: RecordKey, shards: Shards) => WriteCommand

/** Where a change belongs, as the transaction has read it. */
export interface CompanionPlace {
  readonly home: RecordKey
  readonly shards: Shards
  /** False where the companion has to be made. */
  readonly isThere: boolean
}

/**
 * Plans changes to companions inside a transaction: each record is written once, so the companion is looked at before. Its owner is read only
 * where the companion does not settle it, so that other writers of the owner are no conflict.
 */
export class CompanionsInTransaction {
  readonly #commands: CompanionCommands
  readonly #scheme: CompanionScheme

  constructor(commands: CompanionCommands, scheme: CompanionScheme) {
    this.#commands = commands
    this.#scheme = scheme
  }

  async add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader: Reader): Promise<void> {
    const place = await this.find(at, reader)
    // Refused, and with it all that belongs together.
    if (place === undefined) return draft.add(stage, held(this.#commands.model, at.owner), settle)
    const { home, shards, isThere } = place
    if (isThere) return draft.add(stage, this.#commands.put(at, home, shards), settle)
    if (at.isOwnerNew !== true && draft.once(`tell ${recordId(at.owner)} ${this.#scheme.subkeys}`))
      draft.add('write', this.#commands.tell(at.owner, shards), ({ state }) => state === 'written')
    draft.add(stage, this.#commands.create(at, home, shards), settle)
  }

  /** Changes or takes out a member; of what is not there nothing has to be taken out. */
  async change(
    at: StoredMember,
    command: CommandTo,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader: Reader,
  ): Promise<void> {
    const place = await this.find(at, reader)
    if (place?.isThere === true) return draft.add(stage, command(place.home, place.shards), settle)
    const home = this.#scheme.homeOf(at.owner, at.member)
    const nowhere = command(home, this.#scheme.shardsOf(at.owner))
    settle({ command: nowhere, state: 'notWritten', bins: {}, reason: 'missing' })
  }

  /** Undefined where the owner is gone or being deleted. */
  async find({ owner, member, isOwnerNew }: StoredMember, reader: Reader): Promise<CompanionPlace | undefined> {
    for (;;) {
      const shards = this.#scheme.shardsOf(owner)
      const home = this.#scheme.homeOf(owner, member, shards)
      const record = await this.#read(home, [COMPANION_SHARDS_BIN, DELETING_BIN], reader)
      if (record?.bins[COMPANION_SHARDS_BIN] === shards && !(DELETING_BIN in record.bins))
        return { home, shards, isThere: true }
      if (isOwnerNew === true) return { home, shards, isThere: record !== null }
      const root = await this.#read(owner, [this.#scheme.subkeys, DELETING_BIN], reader)
      if (root === null || DELETING_BIN in root.bins) return undefined
      this.#scheme.learn(owner, root.bins[this.#scheme.subkeys])
      if (this.#scheme.shardsOf(owner) === shards) return { home, shards, isThere: record !== null }
    }
  }

  async #read(key: RecordKey, bins: readonly string[], reader: Reader): Promise<StoredRecord | null> {
    const [record] = await reader.read([read(this.#commands.model.name, key, bins)])
    return record
  }
}
