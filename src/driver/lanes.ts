import type { RecordKey } from '../plan/record-key.js'
import { BatchQueue, type QueueLimits, type Send, type Waiting } from './batch-queue.js'
import type { Events } from './events.js'
import type { PartitionOwners } from './partition-owners.js'

/** A command that waits to be sent. */
interface WaitingCommand extends Waiting {
  readonly command: { readonly key: RecordKey }
}

/**
 * A queue for each node, so that a slow one holds up only its own commands, and every batch goes to one node. Where there is one node,
 * there is one queue.
 */
export class Lanes<Entry extends WaitingCommand> {
  readonly #owners: PartitionOwners
  readonly #events: Events
  readonly #newQueue: () => BatchQueue<Entry>
  readonly #queues: BatchQueue<Entry>[]

  constructor(send: Send<Entry>, limits: QueueLimits, { owners, events }: LaneParts) {
    this.#owners = owners
    this.#events = events
    this.#newQueue = () => new BatchQueue(send, limits)
    this.#queues = [this.#newQueue()]
    owners.onChange(() => this.#sortAnew())
  }

  get isIdle(): boolean {
    return this.#queues.every((queue) => queue.isIdle)
  }

  add(entry: Entry): void {
    if (!this.#owners.areMany) this.#queues[0].add(entry)
    else this.#queueOf(entry).add(entry)
  }

  /** Entries given together leave together, a batch for each node. */
  addAll(entries: readonly Entry[], areOfMany = false): void {
    if (!this.#owners.areMany) return this.#queues[0].addAll(entries, areOfMany)
    const byQueue = this.#byQueue(entries)
    this.#events.together(() => {
      for (const [queue, own] of byQueue) queue.addAll(own, areOfMany)
    })
  }

  #byQueue(entries: readonly Entry[]): Map<BatchQueue<Entry>, Entry[]> {
    const byQueue = new Map<BatchQueue<Entry>, Entry[]>()
    for (const entry of entries) {
      const queue = this.#queueOf(entry)
      const own = byQueue.get(queue)
      if (own === undefined) byQueue.set(queue, [entry])
      else own.push(entry)
    }
    return byQueue
  }

  #queueOf(entry: Entry): BatchQueue<Entry> {
    return (this.#queues[this.#owners.laneOf(entry.command.key)] ??= this.#newQueue())
  }

  /** Commands that wait for a node which is not theirs any more need not wait for its answers. */
  #sortAnew(): void {
    const waiting = this.#queues.flatMap((queue) => queue.takeWaiting())
    if (waiting.length > 0) this.addAll(waiting, true)
  }
}

interface LaneParts {
  readonly owners: PartitionOwners
  readonly events: Events
}
