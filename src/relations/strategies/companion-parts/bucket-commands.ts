import type { WriteCommand } from '../../../plan/command.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { atIndex, listAppendUnique, listRemoveValues } from '../../../plan/operations.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { EntityModel } from '../../../model/index.js'
import { CompanionCommands } from '../../write/companion-commands.js'
import type { Shards } from '../../write/companion-scheme.js'
import { mapBin } from '../../write/link-bin.js'
import type { BucketScheme } from './bucket-scheme.js'

/** The list of buckets in the bin that says how children are stored. */
const NAMES = [atIndex(2)]

/** Commands to the owners of buckets: they list the buckets that exist. */
export class BucketCommands extends CompanionCommands {
  readonly #buckets: BucketScheme

  constructor(model: EntityModel, bin: string, index: number, scheme: BucketScheme) {
    super(model, bin, index, mapBin, scheme)
    this.#buckets = scheme
  }

  /** Lists also the buckets that are about to be made, and no longer those that have expired. */
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
}
