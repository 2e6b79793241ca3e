import type { RecordView } from '../expression/record-view.js'
import type { Particle } from '../value/particle.js'
import type { Value } from '../value/value.js'

/** What a record weighs before it has a bin; the real server's figure differs a little by storage engine. */
const RECORD_OVERHEAD = 64
const BIN_OVERHEAD = 8

export type Bins = ReadonlyMap<string, Particle>

/** One version of a record; never changed after it is made. */
export class RecordState implements RecordView {
  #size = -1

  constructor(
    readonly digest: Buffer,
    readonly setName: string,
    readonly bins: Bins,
    readonly generation: number,
    /** Seconds since 2010, 0 = never. */
    readonly voidTime: number,
    /** Milliseconds since the Unix epoch. */
    readonly lastUpdate: number,
    /** Changes with every committed change, so that transactions can verify what they read. */
    readonly version: number,
    readonly storedKey: Particle | undefined,
  ) {}

  get userKey(): Value | undefined {
    return this.storedKey?.value
  }

  bin(name: string): Value | undefined {
    return this.bins.get(name)?.value
  }

  get size(): number {
    if (this.#size < 0) this.#size = recordSize(this.bins, this.setName, this.storedKey)
    return this.#size
  }
}

export function recordSize(bins: Bins, setName: string, storedKey: Particle | undefined): number {
  let size = RECORD_OVERHEAD + setName.length + (storedKey ? storedKey.size + 1 : 0)
  for (const [name, particle] of bins) size += BIN_OVERHEAD + name.length + particle.size
  return size
}
