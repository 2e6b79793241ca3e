import type { Loaded } from '../../codec/index.js'
import { companionKey, companionSet } from '../../keys/index.js'
import { CLOSED_BIN, COMPANION_ROOT_BIN, COMPANION_SHARD_BIN, type EntityModel } from '../../model/index.js'
import {
  goneUnless,
  read,
  remove,
  write,
  type DeleteCommand,
  type Guard,
  type ReadCommand,
  type WriteCommand,
} from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import { addToBin, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordKey, type RecordKey } from '../../plan/record-key.js'

/** A counter whose value is its bin in the record plus one bin in each of several companion records. */
export interface ShardedCounter {
  readonly name: string
  readonly bin: string
  /** Set of the companions. */
  readonly set: string
  readonly shards: number
}

type Count = number | bigint

/** The sharded counters of a class: where their companions are, and what they add up to. */
export class CounterShards {
  readonly counters: readonly ShardedCounter[]
  readonly #bins: ReadonlySet<string>

  private constructor(counters: readonly ShardedCounter[]) {
    this.counters = counters
    this.#bins = new Set(counters.map(({ bin }) => bin))
  }

  /** Counters of a class, or of a class and its subclasses; undefined where there is none. */
  static of(models: readonly EntityModel[]): CounterShards | undefined {
    const byBin = new Map<string, ShardedCounter>()
    for (const counter of models.flatMap(countersOf))
      if ((byBin.get(counter.bin)?.shards ?? 0) < counter.shards) byBin.set(counter.bin, counter)
    return byBin.size === 0 ? undefined : new CounterShards([...byBin.values()])
  }

  /** True for the bin of such a counter: what is added to it goes to a companion. */
  has(bin: string): boolean {
    return this.#bins.has(bin)
  }

  get bins(): ReadonlySet<string> {
    return this.#bins
  }

  /** Reads of the companions of a record, for the counters that are loaded. */
  reads(entity: string, root: RecordKey, loaded: Loaded): ReadCommand[] {
    return this.#wanted(loaded).flatMap((counter) =>
      companionsOf(root, counter).map((key) => read(entity, key, [counter.bin])),
    )
  }

  /** The record with the whole value of each counter; `companions` are what `reads` found. */
  withTotals(record: StoredRecord, loaded: Loaded, companions: readonly (StoredRecord | null)[]): StoredRecord {
    const totals: { [bin: string]: Count } = {}
    let at = 0
    for (const { bin, shards } of this.#wanted(loaded)) {
      const parts = [record, ...companions.slice(at, (at += shards))]
      totals[bin] = sumOf(parts.map((part) => part?.bins[bin] as Count | undefined))
    }
    return { ...record, bins: { ...record.bins, ...totals } }
  }

  #wanted(loaded: Loaded): readonly ShardedCounter[] {
    return loaded === undefined ? this.counters : this.counters.filter(({ name }) => loaded.has(name))
  }
}

function countersOf({ set, properties }: EntityModel): readonly ShardedCounter[] {
  return properties.flatMap(({ name, bin, sharding }) =>
    sharding?.by === 'hash' ? [{ name, bin, set: companionSet(set, bin), shards: sharding.shards }] : [],
  )
}

/** Keys of all companions of a record. */
export function companionsOf(root: RecordKey, counter: ShardedCounter): RecordKey[] {
  return Array.from({ length: counter.shards }, (_, shard) => companionOf(root, counter, shard))
}

export function companionOf(root: RecordKey, { set }: ShardedCounter, shard: number): RecordKey {
  return recordKey(root.namespace, set, companionKey(root.key, shard))
}

let next = Math.floor(Math.random() * 2 ** 30)

/** Shards in turn, each process from another one on: neither writers of one process nor of several meet more often than they must. */
export const nextShard = ({ shards }: ShardedCounter): number => (next = (next + 1) % 2 ** 30) % shards

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

/** Adds up counts; integers past 2^53 as bigint. */
export function sumOf(counts: readonly (Count | undefined)[]): Count {
  return counts.reduce<Count>((sum, count) => (count === undefined || count === null ? sum : plus(sum, count)), 0)
}

function plus(a: Count, b: Count): Count {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum) || !Number.isInteger(a) || !Number.isInteger(b)) return sum
  }
  return BigInt(a) + BigInt(b)
}
