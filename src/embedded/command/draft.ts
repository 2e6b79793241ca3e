import type { RecordView } from '../expression/record-view.js'
import type { RecordState } from '../store/record-state.js'
import { recordSize } from '../store/record-state.js'
import type { Particle } from '../value/particle.js'
import type { Value } from '../value/value.js'

/** The bins of a record while a command changes them; dropped when the command fails. */
export class Draft implements RecordView {
  readonly bins: Map<string, Particle>

  constructor(
    readonly digest: Buffer,
    readonly setName: string,
    readonly base: RecordState | undefined,
    readonly storedKey: Particle | undefined,
    replace: boolean,
  ) {
    this.bins = base === undefined || replace ? new Map<string, Particle>() : new Map(base.bins)
  }

  get userKey(): Value | undefined {
    return this.storedKey?.value
  }

  get lastUpdate(): number {
    return this.base?.lastUpdate ?? 0
  }

  get voidTime(): number {
    return this.base?.voidTime ?? 0
  }

  get size(): number {
    return recordSize(this.bins, this.setName, this.storedKey)
  }

  bin(name: string): Value | undefined {
    return this.bins.get(name)?.value
  }
}
