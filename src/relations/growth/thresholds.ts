import type { SplitWhen } from '../../model/index.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { SplitReason } from './placement.js'

/** Owners whose busy answers are counted. */
const MOST_COUNTED = 1_000

interface Busy {
  /** The second that is counted. */
  second: number
  answers: number
}

/** Says by the answers to writes when the record that was written is too large or too busy. */
export class Thresholds {
  readonly #when: SplitWhen
  readonly #bin: string
  readonly #busy = new Map<string, Busy>()

  constructor(when: SplitWhen, bin: string) {
    this.#when = when
    this.#bin = bin
  }

  reached(owner: RecordKey, outcome: Outcome): SplitReason | undefined {
    const { bytes = Infinity, members = Infinity, busyPerSecond = Infinity } = this.#when
    if ((outcome.size ?? 0) > bytes) return 'bytes'
    if ((outcome.members?.[this.#bin] ?? 0) > members) return 'members'
    if (outcome.busy === undefined || busyPerSecond === Infinity) return undefined
    return this.#busyNow(owner, outcome.busy) > busyPerSecond ? 'busyPerSecond' : undefined
  }

  /** Busy answers of this second, with these. */
  #busyNow(owner: RecordKey, answers: number): number {
    const id = recordId(owner)
    const second = Math.floor(performance.now() / 1000)
    const known = this.#busy.get(id)
    const busy = known?.second === second ? known : { second, answers: 0 }
    busy.answers += answers
    this.#busy.delete(id)
    this.#busy.set(id, busy)
    if (this.#busy.size > MOST_COUNTED) this.#busy.delete(this.#busy.keys().next().value!)
    return busy.answers
  }
}
