import {
  COMPANION_ROOT_BIN,
  COMPANION_SHARD_BIN,
  COMPANION_SHARDS_BIN,
  type EntityModel,
  type RelationModel,
} from '../../../model/index.js'
import { hashShard, type KeyValue } from '../../../keys/index.js'
import { read, write, type Bins, type WriteCommand } from '../../../plan/command.js'
import { writeBin } from '../../../plan/operations.js'
import type { WriteOperation } from '../../../plan/operation.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import type { FoundHomes } from '../../contract/index-lookup.js'
import type { Reader } from '../../contract/reader.js'
import { askCompanions, type Answer, type CompanionQuestion } from '../../write/ask-companions.js'
import { CompanionChanges } from '../../write/companion-changes.js'
import { CompanionCommands, NOT_MARKED } from '../../write/companion-commands.js'
import type { Companions } from '../../write/companion-lifecycle.js'
import { CompanionCounts } from '../../write/companion-counts.js'
import { CompanionScheme, type Shards } from '../../write/companion-scheme.js'
import { CompanionsInTransaction } from '../../write/companions-in-transaction.js'
import { mapBin } from '../../write/link-bin.js'
import { askBuckets } from '../../buckets/ask-buckets.js'
import { BucketCommands } from '../../buckets/bucket-commands.js'
import { BucketScheme } from '../../buckets/bucket-scheme.js'
import type { PartPlaces } from './part-groups.js'
import type { PartChanges } from '../consolidate/part-changes.js'
import { timeAt } from '../consolidate/sort-key.js'

/** Records that hold the children of one collection, for reads. */
export interface AskedHomes extends PartPlaces {
  /** Asks those records of each owner for which there is a question, or only those that an index has found. */
  ask(
    owners: readonly RecordKey[],
    reader: Reader,
    question: CompanionQuestion,
    found?: FoundHomes,
  ): Promise<readonly (readonly Answer[])[]>
}

/** Records that hold the children of one collection, for verifying them. */
export interface VerifiedHomes extends PartPlaces {
  /** Bins of the owner's record that say it; `learn` takes them over. */
  readonly schemeBins: readonly string[]
  learn(owner: RecordKey, bins: Bins): void
  /** Records beside the owner's own. */
  companions(owner: RecordKey): readonly RecordKey[]
  unmark(home: RecordKey): WriteCommand
  /** Says in the owner's record where its children are, unless it knows. */
  tell(owner: RecordKey, made: readonly RecordKey[]): WriteCommand
  /** Stores children in a record that is there, or is made; `first` chooses it. */
  addition(
    owner: RecordKey,
    home: RecordKey,
    first: KeyValue,
    operations: readonly WriteOperation[],
    isThere: boolean,
  ): WriteCommand
}

/** The companion records that hold the children of one collection, and the commands to them. */
export class PartHomes implements Companions, AskedHomes, VerifiedHomes {
  readonly model: EntityModel
  readonly bin: string
  readonly scheme: CompanionScheme
  /** Set where dates of the children choose their companions. */
  readonly buckets: BucketScheme | undefined
  readonly commands: CompanionCommands
  readonly changes: CompanionChanges
  /** Set where the owner counts its children. */
  readonly counts: CompanionCounts | undefined
  readonly inside: CompanionsInTransaction

  constructor(model: EntityModel, relation: RelationModel) {
    this.model = model
    this.bin = relation.bin!
    const { buckets, ...companions } = relation.companions!
    this.buckets = buckets && new BucketScheme(model, relation.name, { ...companions, buckets }, timeOf)
    this.scheme = this.buckets ?? new CompanionScheme(model, relation.name, companions)
    this.commands =
      this.buckets === undefined
        ? new CompanionCommands(model, this.bin, relation.index, mapBin, this.scheme)
        : new BucketCommands(model, this.bin, relation.index, mapBin, this.buckets)
    this.counts = CompanionCounts.of(model, relation)
    this.changes = new CompanionChanges(this.commands, this.scheme, relation.name, this.counts)
    this.inside = new CompanionsInTransaction(this.commands, this.scheme)
  }

  get schemeBins(): readonly string[] {
    return this.scheme.names
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.scheme.learn(owner, bins)
  }

  companions(owner: RecordKey): readonly RecordKey[] {
    return this.scheme.homes(owner)
  }

  unmark(home: RecordKey): WriteCommand {
    return this.commands.unmark(home)
  }

  tell(owner: RecordKey, made: readonly RecordKey[]): WriteCommand {
    return this.commands.tell(owner, this.scheme.shardsOf(owner), made)
  }

  addition(
    owner: RecordKey,
    home: RecordKey,
    first: KeyValue,
    operations: readonly WriteOperation[],
    isThere: boolean,
  ): WriteCommand {
    const shards = this.scheme.shardsOf(owner)
    if (!isThere) return this.made(owner, home, shards, first, operations)
    const guards = [this.scheme.isOneOf(shards), NOT_MARKED]
    return write(this.model.name, home, operations, { exists: 'mustExist', ttl: 'keep', guards })
  }

  /** Value that chooses the companion of a child: its id, or its place, which begins with its date. */
  routeOf(id: KeyValue, place: MapKey): KeyValue {
    return this.buckets === undefined ? id : place
  }

  /** The record that holds the child, or would. */
  homeOf(owner: RecordKey, id: KeyValue, place: MapKey): RecordKey {
    return this.scheme.homeOf(owner, this.routeOf(id, place))
  }

  /** Asks those companions of each owner for which there is a question; only owners list their buckets, but an index may have found those that matter. */
  ask(
    owners: readonly RecordKey[],
    reader: Reader,
    question: CompanionQuestion,
    found?: FoundHomes,
  ): Promise<readonly (readonly Answer[])[]> {
    return this.buckets === undefined
      ? askCompanions(this.model, this.scheme, owners, reader, question)
      : askBuckets(this.model, this.buckets, owners, reader, question, found)
  }

  async there(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]> {
    const [answers] = await this.ask([owner], reader, (home) => read(this.model.name, home, 'none'))
    return answers.filter(({ record }) => record !== null).map(({ home }) => home)
  }

  /** Changes children of a companion that is there; new ones only where it is not marked. */
  change(home: RecordKey, shards: Shards, changes: PartChanges): WriteCommand {
    const isThisOne = this.scheme.isOneOf(shards)
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
      ...(shards === 0 ? [] : [writeBin(COMPANION_SHARD_BIN, this.#shardOf(first, shards))]),
    ]
    return write(this.model.name, home, operations, {
      exists: 'mustNotExist',
      // A companion must outlive its owner's expiry, which may be put off at any time.
      ttl: this.buckets?.ttlOf(first, shards) ?? 'never',
      watchSize: true,
    })
  }

  #shardOf(first: KeyValue, shards: Shards): number | string {
    return this.buckets === undefined ? hashShard(first, shards) : this.buckets.nameAt(first, shards)!
  }
}

/** The place of a child begins with its date. */
const timeOf = (place: KeyValue): number | undefined => timeAt(place as string)
