import type { RecordKey } from '../plan/record-key.js'
import type { Limits } from './options.js'
import { COMMON_LANE, type PartitionOwners } from './partition-owners.js'

/** Bounds what goes alone, for each node by itself: the client's connections are counted by node, too. */
export class Gates {
  /** For calls that concern several nodes: queries, commits and aborts. */
  readonly spanning: Gate
  readonly #owners: PartitionOwners
  readonly #size: number
  /** A single connection serves all of it. */
  readonly #isShared: boolean
  readonly #byLane: Gate[] = []

  constructor(owners: PartitionOwners, { alone, spanning }: Pick<Limits, 'alone'> & { readonly spanning: number }) {
    this.#owners = owners
    this.#size = alone
    this.#isShared = spanning === 0
    this.spanning = new Gate(this.#isShared ? alone : spanning)
  }

  of(key: RecordKey): Gate {
    if (this.#isShared) return this.spanning
    const lane = this.#owners.areMany ? this.#owners.laneOf(key) : COMMON_LANE
    return (this.#byLane[lane] ??= new Gate(this.#size))
  }

  /** A gate of the same size for the writes of one transaction: all of them go to the node of its monitor record first. */
  newGate(): Gate {
    return new Gate(this.#size)
  }

  get isIdle(): boolean {
    return this.spanning.isIdle && this.#byLane.every((gate) => gate.isIdle)
  }
}

const ENTERED = Promise.resolve(true)
/** Timers of more milliseconds fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Lets a bounded number in at a time; the others wait in the order they came. */
export class Gate {
  readonly #size: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  constructor(size: number) {
    this.#size = size
  }

  get isIdle(): boolean {
    return this.#inside === 0
  }

  /** Resolves when there is room, or with false when there is none in that many milliseconds. Each `enter` that was let in needs one `leave`. */
  enter(patience = Infinity): Promise<boolean> {
    return this.tryEnter() ? ENTERED : new Promise((resolve) => this.#wait(resolve, patience))
  }

  /** Enters at once; false when there is no room. */
  tryEnter(): boolean {
    if (this.#inside >= this.#size) return false
    this.#inside++
    return true
  }

  #wait(resolve: (isInside: boolean) => void, patience: number): void {
    const enter = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    const giveUp = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1)
      resolve(false)
    }
    const timer = patience > LONGEST_TIMER ? undefined : setTimeout(giveUp, patience)
    this.#waiting.push(enter)
  }

  leave(): void {
    // The place goes straight to the next in line, so nobody can slip in between.
    const next = this.#waiting.shift()
    if (next === undefined) this.#inside--
    else next()
  }
}
