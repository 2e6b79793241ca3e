/** Something that waits to be sent. */
export interface Waiting {
  /** Equal for commands on one record; undefined where it does not matter in which order they run. */
  readonly id: string | undefined
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

/** How entries are sent: `done` is called when they are answered. */
export interface Send<Entry> {
  one(entry: Entry, done: () => void): void
  many(entries: readonly Entry[], done: () => void): void
}

/**
 * Natural batching. While few round trips are in flight a command goes out alone and at once; what arrives while all are
 * taken waits, and leaves together as soon as one is free. No timer, so nothing is ever delayed for the sake of a batch.
 */
export class BatchQueue<Entry extends Waiting> {
  readonly #send: Send<Entry>
  readonly #limits: QueueLimits
  #waiting: Entry[] = []
  #head = 0
  #inFlight = 0

  constructor(send: Send<Entry>, limits: QueueLimits) {
    this.#send = send
    this.#limits = limits
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#isEmpty
  }

  get #isEmpty(): boolean {
    return this.#head === this.#waiting.length
  }

  add(entry: Entry): void {
    if (this.#inFlight >= this.#limits.roundTrips || !this.#isEmpty) return void this.#waiting.push(entry)
    this.#inFlight++
    this.#send.one(entry, this.#free)
  }

  /** Entries given together leave together. */
  addAll(entries: readonly Entry[]): void {
    for (const entry of entries) this.#waiting.push(entry)
    this.#pump()
  }

  #pump(): void {
    while (this.#inFlight < this.#limits.roundTrips && !this.#isEmpty) {
      const batch = this.#nextBatch()
      if (batch.length > 0) this.#dispatch(batch)
    }
  }

  #dispatch(batch: readonly Entry[]): void {
    this.#inFlight++
    if (batch.length === 1) this.#send.one(batch[0], this.#free)
    else this.#send.many(batch, this.#freeLater)
  }

  readonly #free = (): void => {
    this.#inFlight--
    this.#pump()
  }

  // A batch holds its place until the callers it answered had the chance to ask again, so that they leave together too.
  readonly #freeLater = (): void => void setImmediate(this.#free)

  /** From the front: as many as the limits allow, one for each record, because rows of one batch may run in any order. */
  #nextBatch(): Entry[] {
    const { batchRows, batchBytes } = this.#limits
    const batch: Entry[] = []
    const later: Entry[] = []
    const records = new Set<string>()
    let bytes = 0
    let next = this.#head
    // A bounded look ahead: thousands of commands for one record must not be gone through for each of them.
    const end = Math.min(this.#waiting.length, next + 2 * batchRows)
    for (; next < end && batch.length < batchRows; next++) {
      const entry = this.#waiting[next]
      if (entry.isDropped) continue
      if (batch.length > 0 && bytes + entry.bytes > batchBytes) break
      if (entry.id !== undefined && records.has(entry.id)) {
        later.push(entry)
        continue
      }
      if (entry.id !== undefined) records.add(entry.id)
      batch.push(entry)
      bytes += entry.bytes
    }
    this.#moveHead(next, later)
    return batch
  }

  /** Forgets what stands before `next`, except the entries that must wait for a later batch. */
  #moveHead(next: number, later: readonly Entry[]): void {
    this.#head = next - later.length
    later.forEach((entry, i) => (this.#waiting[this.#head + i] = entry))
    if (this.#head === this.#waiting.length || this.#head > 4096) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
  }
}
