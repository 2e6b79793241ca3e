import type { ReadCommand } from '../plan/command.js'
import type { ClientRecord } from './aerospike-client.js'
import { storedRecord } from './client-record.js'
import { decodeStored } from './decode-stored.js'
import type { StoredRecord } from './outcome.js'

/** Sets whose records have maps with bytes as keys, each with the bins that hold bytes. */
export type ByteKeyedSets = ReadonlyMap<string, ReadonlySet<string>>

/** Undefined where no record has such a map. */
export const exactReads = (sets: ByteKeyedSets | undefined): ExactReads | undefined =>
  sets === undefined || sets.size === 0 ? undefined : new ExactReads(sets)

/**
 * Reads of records that have maps with bytes as keys. The client returns keys as text, in which different bytes become the same, so lists and
 * maps are asked for as raw bytes and decoded here.
 */
export class ExactReads {
  readonly #sets: ByteKeyedSets

  constructor(sets: ByteKeyedSets) {
    this.#sets = sets
  }

  /** True when bins of the set are read as raw bytes. Results of operations are not: each kind of operation answers in a form without keys. */
  has(set: string): boolean {
    return this.#sets.has(set)
  }

  isRead({ key, operations, bins, raw }: ReadCommand): boolean {
    return this.has(key.set) && operations === undefined && bins !== 'none' && raw !== true
  }

  /** Splits commands into those that are read as raw bytes, and the others: a batch decodes all of its rows, or none. */
  divide<T>(all: readonly T[], commandOf: (one: T) => ReadCommand): readonly [raw: T[], decoded: T[]] {
    const isRaw = all.map((one) => this.isRead(commandOf(one)))
    return [all.filter((_, i) => isRaw[i]), all.filter((_, i) => !isRaw[i])]
  }

  /** Answers of both kinds, in the order of the commands. */
  async inBatches<R>(
    commands: readonly ReadCommand[],
    send: (some: readonly ReadCommand[], isRaw: boolean) => Promise<readonly R[]>,
  ): Promise<readonly R[]> {
    const [raw, decoded] = this.divide(commands, (command) => command)
    if (raw.length === 0 || decoded.length === 0) return send(commands, raw.length > 0)
    const answers = new Map<ReadCommand, R>()
    for (const some of [raw, decoded])
      (await send(some, some === raw)).forEach((answer, i) => answers.set(some[i], answer))
    return commands.map((command) => answers.get(command)!)
  }

  /** The record that a read found. */
  record(command: ReadCommand, record: ClientRecord): StoredRecord {
    if (!this.isRead(command)) return storedRecord(record)
    return storedRecord({ ...record, bins: this.decoded(command.key.set, record.bins) as ClientRecord['bins'] })
  }

  /** The bins with their lists and maps. */
  decoded(set: string, bins: unknown): unknown {
    const bytes = this.#sets.get(set)
    if (bytes === undefined || typeof bins !== 'object' || bins === null) return bins
    const decode = ([name, value]: [string, unknown]): [string, unknown] =>
      value instanceof Uint8Array && !bytes.has(name) ? [name, decodeStored(value) ?? value] : [name, value]
    return Object.fromEntries(Object.entries(bins).map(decode))
  }
}
