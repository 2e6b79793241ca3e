import { recordId } from '../plan/record-key.js'
import type { Command } from '../plan/command.js'

/** Something that waits to be sent. */
export interface Waiting {
  readonly command: Command
  /** About how many bytes it takes in a request. */
  readonly bytes: number
  /** Set when nobody waits for it any more. */
  readonly isDropped: boolean
}

export interface QueueLimits {
  readonly roundTrips: number
  readonly batchRows: number
  readonly batchBytes: number
}

/**
 * Natural batching. While few round trips are in flight a command goes out alone and at once; what arrives while all are
 * taken waits, and leaves together as soon as one is free. No timer, so nothing is ever delayed for the sake of a batch.
 */
export class BatchQueue<Entry extends Waiting> {
  readonly #send: (entries: readonly Entry[]) => Promise<void>
  readonly #limits: QueueLimits
  #waiting: Entry[] = []
  #inFlight = 0

  /** `send` resolves when its entries are answered; it never rejects. */
  constructor(send: (entries: readonly Entry[]) => Promise<void>, limits: QueueLimits) {
    this.#send = send
    this.#limits = limits
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0
  }

  add(entry: Entry): void {
    if (this.#inFlight < this.#limits.roundTrips && this.#waiting.length === 0) this.#dispatch([entry])
    else this.#waiting.push(entry)
  }

  /** Entries given together leave together. */
  addAll(entries: readonly Entry[]): void {
    for (const entry of entries) this.#waiting.push(entry)
    this.#pump()
  }

  #pump(): void {
    while (this.#inFlight < this.#limits.roundTrips && this.#waiting.length > 0) {
      const batch = this.#nextBatch()
      if (batch.length > 0) this.#dispatch(batch)
    }
  }

  #dispatch(entries: readonly Entry[]): void {
    this.#inFlight++
    const free = (): void => {
      this.#inFlight--
      this.#pump()
    }
    // A batch holds its place until the callers it answered had the chance to ask again, so that they leave together too.
    void this.#send(entries).then(() => (entries.length === 1 ? free() : void setImmediate(free)))
  }

  /** From the front: as many as the limits allow, one for each record, because rows of one batch may run in any order. */
  #nextBatch(): Entry[] {
    const batch: Entry[] = []
    const later: Entry[] = []
    const records = new Set<string>()
    let bytes = 0
    let next = 0
    for (; next < this.#waiting.length && batch.length < this.#limits.batchRows; next++) {
      const entry = this.#waiting[next]
      if (entry.isDropped) continue
      if (batch.length > 0 && bytes + entry.bytes > this.#limits.batchBytes) break
      const id = recordId(entry.command.key)
      if (records.has(id)) later.push(entry)
      else {
        records.add(id)
        batch.push(entry)
        bytes += entry.bytes
      }
    }
    this.#waiting = next === this.#waiting.length ? later : [...later, ...this.#waiting.slice(next)]
    return batch
  }
}
