import {
  COMPANION_ROOT_BIN,
  COMPANION_SHARD_BIN,
  COMPANION_SHARDS_BIN,
  type EntityModel,
  type RelationModel,
} from '../../../model/index.js'
import { hashShard, type KeyValue } from '../../../keys/index.js'
import { binEquals, write, type WriteCommand } from '../../../plan/command.js'
import { writeBin } from '../../../plan/operations.js'
import type { WriteOperation } from '../../../plan/operation.js'
import type { RecordKey } from '../../../plan/record-key.js'
import { CompanionChanges } from '../../write/companion-changes.js'
import { CompanionCommands, NOT_MARKED } from '../../write/companion-commands.js'
import type { Companions } from '../../write/companion-lifecycle.js'
import { CompanionScheme, type Shards } from '../../write/companion-scheme.js'
import { CompanionsInTransaction } from '../../write/companions-in-transaction.js'
import { mapBin } from '../../write/link-bin.js'
import type { PartChanges } from '../consolidate/part-changes.js'

/** The companion records that hold the children of one collection, and the commands to them. */
export class PartHomes implements Companions {
  readonly model: EntityModel
  readonly bin: string
  readonly scheme: CompanionScheme
  readonly commands: CompanionCommands
  readonly changes: CompanionChanges
  readonly inside: CompanionsInTransaction

  constructor(model: EntityModel, relation: RelationModel) {
    this.model = model
    this.bin = relation.bin!
    this.scheme = new CompanionScheme(model, relation.name, relation.companions!)
    this.commands = new CompanionCommands(model, this.bin, relation.index, mapBin, this.scheme)
    this.changes = new CompanionChanges(this.commands, this.scheme, relation.name)
    this.inside = new CompanionsInTransaction(this.commands, this.scheme)
  }

  /** The record that holds the child with this id, or would. */
  homeOf(owner: RecordKey, id: KeyValue): RecordKey {
    return this.scheme.homeOf(owner, id)
  }

  /** Changes children of a companion that is there; new ones only where it is not marked. */
  change(home: RecordKey, shards: Shards, changes: PartChanges): WriteCommand {
    const isThisOne = binEquals(COMPANION_SHARDS_BIN, shards)
    return write(this.model.name, home, changes.operations(), {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [isThisOne, ...(changes.isRemoval ? [] : [NOT_MARKED]), ...changes.guards],
      watchSize: !changes.isRemoval,
    })
  }

  /** Makes the companion with its first children. */
  create(owner: RecordKey, home: RecordKey, shards: Shards, first: KeyValue, changes: PartChanges): WriteCommand {
    return this.made(owner, home, shards, first, changes.creation())
  }

  made(
    owner: RecordKey,
    home: RecordKey,
    shards: Shards,
    first: KeyValue,
    creation: readonly WriteOperation[],
  ): WriteCommand {
    const operations = [
      ...creation,
      writeBin(COMPANION_ROOT_BIN, owner.key),
      writeBin(COMPANION_SHARDS_BIN, shards),
      ...(shards === 0 ? [] : [writeBin(COMPANION_SHARD_BIN, hashShard(first, shards))]),
    ]
    return write(this.model.name, home, operations, { exists: 'mustNotExist', ttl: 'never', watchSize: true })
  }
}
