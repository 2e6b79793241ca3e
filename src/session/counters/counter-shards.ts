import type { Loaded } from '../../codec/index.js'
import type { EntityModel } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { companionsOf, countersOf, type Count, type ShardedCounter } from '../../relations/write/counter-companions.js'

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
