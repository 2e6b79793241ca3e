import { companionKey, companionSet } from '../../keys/index.js'
import { CLOSED_BIN, COMPANION_ROOT_BIN, COMPANION_SHARD_BIN, type EntityModel } from '../../model/index.js'
import {
  binEquals,
  goneUnless,
  remove,
  write,
  type DeleteCommand,
  type Guard,
  type WriteCommand,
} from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import type { Draft } from '../../plan/draft.js'
import { addToBin, writeBin } from '../../plan/operations.js'
import { recordKey, type RecordKey } from '../../plan/record-key.js'

/** A counter or count whose value is its bin in the record plus one bin in each of several companion records. */
export interface ShardedCounter {
  readonly name: string
  readonly bin: string
  /** Set of the companions. */
  readonly set: string
  readonly shards: number
  /** The collection whose members it counts; undefined for a counter that programs add to. */
  readonly countOf?: string
}

export type Count = number | bigint

export function countersOf({ set, properties }: EntityModel): readonly ShardedCounter[] {
  return properties.flatMap(({ name, bin, sharding, countOf }) =>
    sharding?.by === 'hash'
      ? [{ name, bin, set: companionSet(set, bin), shards: sharding.shards, ...(countOf !== undefined && { countOf }) }]
      : [],
  )
}

/** Keys of all companions of a record. */
export function companionsOf(root: RecordKey, counter: ShardedCounter): RecordKey[] {
  return Array.from({ length: counter.shards }, (_, shard) => companionOf(root, counter, shard))
}

export function companionOf(root: RecordKey, { set }: ShardedCounter, shard: number): RecordKey {
  return recordKey(root.namespace, set, companionKey(root.key, shard))
}

type Turns = WeakMap<ShardedCounter, number>
/** A transaction is planned twice, and its second plan has turns of its own: else it would skip every other shard. */
const [turns, turnsInside]: Turns[] = [new WeakMap(), new WeakMap()]

/** Shards in turn, each process from another one on: neither writers of one process nor of several meet more often than they must. */
export function nextShard(counter: ShardedCounter, { isInside }: Pick<Draft, 'isInside'>): number {
  const of = isInside ? turnsInside : turns
  const turn = ((of.get(counter) ?? Math.floor(Math.random() * counter.shards)) + 1) % counter.shards
  of.set(counter, turn)
  return turn
}

/** Adds to a companion that exists. */
export function addToCompanion(model: EntityModel, key: RecordKey, bin: string, by: Count): WriteCommand {
  return write(model.name, key, [addToBin(bin, by)], { exists: 'mustExist', ttl: 'keep', guards: whileCounting(model) })
}

/** Adds to a companion, which is made where it is missing. It never expires by itself: what it counted would be lost. */
export function createCompanion(
  model: EntityModel,
  key: RecordKey,
  bin: string,
  by: Count,
  root: RecordKey,
  shard: number,
): WriteCommand {
  const about = [writeBin(COMPANION_ROOT_BIN, root.key), writeBin(COMPANION_SHARD_BIN, shard)]
  return write(model.name, key, [...about, addToBin(bin, by)], {
    exists: 'upsert',
    ttl: 'never',
    guards: whileCounting(model),
  })
}

const NOT_CLOSED: readonly Guard[] = [goneUnless(not(binExists(CLOSED_BIN)))]

/** A companion that moves to the archive counts no more. */
const whileCounting = ({ archive }: EntityModel): readonly Guard[] => (archive === undefined ? [] : NOT_CLOSED)

export const removeCompanion = ({ name, durableDelete }: EntityModel, key: RecordKey): DeleteCommand =>
  remove(name, key, { durableDelete })

/** Deletes a companion to which nobody else has added, unless it moves to the archive. */
export const removeUnlessShared = (model: EntityModel, key: RecordKey, bin: string, by: Count): DeleteCommand => ({
  ...removeCompanion(model, key),
  guards: [binEquals(bin, by), ...whileCounting(model)],
})

export const negative = (count: Count): Count => (typeof count === 'bigint' ? -count : 0 - count)
