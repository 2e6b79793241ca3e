import type { RecordKey } from '../plan/record-key.js'
import { Gate } from './gate.js'
import type { Limits } from './options.js'
import type { PartitionOwners } from './partition-owners.js'

/** Bounds what goes alone, for each node by itself: the client's connections are counted by node, too. */
export class Gates {
  /** For calls that concern several nodes: queries, commits and aborts. */
  readonly spanning: Gate
  readonly #owners: PartitionOwners
  readonly #size: number
  /** There is a single connection for all of it. */
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
    return (this.#byLane[this.#owners.laneOf(key)] ??= new Gate(this.#size))
  }

  /** A gate of the same size for the writes of one transaction: all of them go to the node of its monitor record first. */
  newGate(): Gate {
    return new Gate(this.#size)
  }

  get isIdle(): boolean {
    return this.spanning.isIdle && this.#byLane.every((gate) => gate.isIdle)
  }
}
