import type { Bins } from '../plan/command.js'
import type { QueryCommand } from '../plan/query-command.js'
import { binsBytes } from '../plan/wire-bytes.js'
import type { ClientFound, ClientStream } from './aerospike-client.js'
import { NO_BINS, storedTtl } from './client-record.js'
import type { FoundRecord } from './outcome.js'
import { partitionOf } from './query-position.js'

/** Makes of a record what is kept of it. */
export type Take<R> = (record: FoundRecord) => R

const PARTITIONS = 4096
/** Rounds in which the density of partitions comes near enough to what it is. */
const ROUNDS = 30
/** Every so many records one is measured. */
const MEASURED = 16

/** Records of one query. Each is taken as it arrives: what a scavenge of the collector finds alive, it has to copy. */
export class Arrivals<R> {
  readonly records: R[] = []
  /** Number of records that have arrived. */
  length = 0
  /** Bytes of the records, as far as those tell that were measured. */
  bytes = 0
  readonly #take: Take<R>
  readonly #isSeen = new Uint8Array(PARTITIONS)
  #partitions = 0
  #failure: { readonly error: unknown } | undefined

  constructor(take: Take<R>) {
    this.#take = take
  }

  /** Takes all of the stream; the promise rejects with the client's errors only. */
  static of<R>(stream: ClientStream, take: Take<R>): Promise<Arrivals<R>> {
    return new Promise((resolve, reject) => {
      const arrivals = new Arrivals(take)
      stream.on('data', (record) => arrivals.add(record))
      stream.on('error', reject)
      stream.on('end', () => resolve(arrivals))
    })
  }

  /** Records that a partition seems to have, also those that show none: keys are spread by chance. */
  get density(): number {
    const shown = this.length / Math.max(1, this.#partitions)
    let density = shown
    for (let i = 0; i < ROUNDS; i++) density = shown * (1 - Math.exp(-density))
    return density
  }

  add(record: ClientFound): void {
    const found = foundRecord(record)
    if (this.length++ % MEASURED === 0) this.bytes += MEASURED * binsBytes(found.bins)
    const partition = partitionOf(found.digest)
    this.#partitions += 1 - this.#isSeen[partition]
    this.#isSeen[partition] = 1
    if (this.#failure !== undefined) return
    try {
      this.records.push(this.#take(found))
    } catch (error) {
      // Thrown into the client's callback, it would end the process.
      this.#failure = { error }
    }
  }

  /** Returns the arrivals, or throws the error with which a record could not be taken. */
  checked(): this {
    if (this.#failure !== undefined) throw this.#failure.error
    return this
  }
}

/** Keeps the record. */
export const asFound: Take<FoundRecord> = (record) => record

/** True where no record can be found twice: of several lookups one may be, and of a range one that is changed meanwhile. */
export const isFoundOnce = ({ index, others }: QueryCommand): boolean => index?.to === undefined && others === undefined

export function eachOnce(command: QueryCommand, found: readonly (readonly FoundRecord[])[]): readonly FoundRecord[] {
  if (isFoundOnce(command)) return found[0] ?? []
  const byDigest = new Map<string, FoundRecord>()
  for (const record of found.flat()) {
    byDigest.set((record.digest as Buffer).toString('latin1'), record)
  }
  return [...byDigest.values()]
}

export function foundRecord(record: ClientFound): FoundRecord {
  const { bins, gen, ttl } = record
  return {
    bins: (bins as Bins | null | undefined) ?? NO_BINS,
    generation: gen ?? 0,
    ttl: storedTtl(ttl),
    digest: record.key.digest,
  }
}
