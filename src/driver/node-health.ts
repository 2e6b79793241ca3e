import type { RecordKey } from '../plan/record-key.js'
import type { PartitionOwners } from './partition-owners.js'

/** Longer than a cluster needs to notice that a node is gone. */
const CAUTION = 5000

/** Remembers for a while which nodes have left commands without an answer. */
export class NodeHealth {
  readonly #owners: PartitionOwners
  readonly #until = new Map<number, number>()

  constructor(owners: PartitionOwners) {
    this.#owners = owners
  }

  noteFailure({ key }: { readonly key: RecordKey }): void {
    this.#until.set(this.#owners.laneOf(key), performance.now() + CAUTION)
  }

  isUnreliable({ key }: { readonly key: RecordKey }): boolean {
    if (this.#until.size === 0) return false
    const lane = this.#owners.laneOf(key)
    const until = this.#until.get(lane)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#until.delete(lane)
    return false
  }
}
