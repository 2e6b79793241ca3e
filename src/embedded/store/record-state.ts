import type { RecordView } from '../expression/record-view.js'
import type { Particle } from '../value/particle.js'
import type { Value } from '../value/value.js'
import { recordSize } from './record-size.js'

export type Bins = ReadonlyMap<string, Particle>

/** A version of a record; never changed after it is made. */
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
    if (this.#size < 0) this.#size = recordSize(this.bins, this.setName, this.storedKey, this.voidTime)
    return this.#size
  }
}
