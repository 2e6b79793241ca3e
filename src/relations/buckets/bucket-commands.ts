import { COMPANION_ROOT_BIN, COMPANION_SHARD_BIN, COMPANION_SHARDS_BIN, type EntityModel } from '../../model/index.js'
import { write, type Existence, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { atIndex, listAppendUnique, listRemoveValues, writeBin, writeMissingBin } from '../../plan/operations.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import { CompanionCommands, NOT_MARKED } from '../write/companion-commands.js'
import type { Shards } from '../write/companion-scheme.js'
import { linkWrite, type LinkBin } from '../write/link-bin.js'
import type { BucketScheme } from './bucket-scheme.js'

/** The list of buckets in the bin that says how members are stored. */
const NAMES = [atIndex(2)]

/** Commands to buckets, and to their owners, which list them. */
export class BucketCommands extends CompanionCommands {
  readonly #bin: string
  readonly #layout: LinkBin
  readonly #buckets: BucketScheme

  constructor(model: EntityModel, bin: string, index: number, layout: LinkBin, scheme: BucketScheme) {
    super(model, bin, index, layout, scheme)
    this.#bin = bin
    this.#layout = layout
    this.#buckets = scheme
  }

  /** Also lists the buckets that are about to be made, and no longer those that have expired. */
  override tell(owner: RecordKey, shards: Shards, made: readonly RecordKey[] = []): WriteCommand {
    const { subkeys } = this.#buckets
    const command = super.tell(owner, shards)
    const [missing, ...rest] = command.operations
    const names = made.map((home) => this.#buckets.nameOf(owner, home))
    const expired = this.#buckets.expired(owner, Date.now()).filter((name) => !names.includes(name))
    const listing: WriteOperation[] = names.length === 0 ? [] : [listAppendUnique(subkeys, names, NAMES)]
    if (expired.length > 0) listing.push(listRemoveValues(subkeys, expired, 'none', NAMES))
    return { ...command, operations: [missing, ...listing, ...rest] }
  }

  /** Lists buckets in the write that makes or replaces their owner's record. */
  listed(owner: RecordKey, homes: readonly RecordKey[], exists: Existence): WriteCommand {
    const { subkeys } = this.#buckets
    const names = homes.map((home) => this.#buckets.nameOf(owner, home))
    const described = this.#buckets.describe(this.#buckets.shardsOf(owner))
    return linkWrite(
      this.model,
      owner,
      [writeMissingBin(subkeys, described), ...(names.length === 0 ? [] : [listAppendUnique(subkeys, names, NAMES)])],
      exists,
    )
  }

  /** Makes the bucket of a time, with its first link. */
  bucket(at: StoredMember, time: number, home: RecordKey, shards: Shards): WriteCommand {
    return write(this.model.name, home, this.#made(at, time, home, shards), {
      exists: 'mustNotExist',
      ttl: this.#buckets.ttlOf(time, shards),
      watchSize: true,
    })
  }

  /** Puts a link into the bucket of a time, whether that is there or not. */
  putOrMake(at: StoredMember, time: number, home: RecordKey, shards: Shards): WriteCommand {
    const { ended } = this.#layout
    const made = this.#made(at, time, home, shards)
    return write(this.model.name, home, ended === undefined ? made : [...made, ended.forget([at.member])], {
      exists: 'upsert',
      ttl: this.#buckets.ttlOf(time, shards),
      guards: [this.#buckets.isOneOf(shards), NOT_MARKED],
    })
  }

  #made(at: StoredMember, time: number, home: RecordKey, shards: Shards): readonly WriteOperation[] {
    const end = { model: this.model, key: home, bin: this.#bin }
    return [
      this.#layout.create(this.#bin),
      writeBin(COMPANION_ROOT_BIN, at.owner.key),
      writeBin(COMPANION_SHARDS_BIN, shards),
      writeBin(COMPANION_SHARD_BIN, this.#buckets.nameAt(time, shards)!),
      this.#layout.put(end, at.member, at.attributes),
    ]
  }
}
