import type { RecordKey, UserKey } from '../plan/record-key.js'

/** Something that waits to be sent. */
export interface Waiting {
  /** The record it is for; undefined where it does not matter in which order commands on one record run. */
  readonly key: RecordKey | undefined
  /** About how many bytes it takes in a request. */
  readonly bytes: number
  /** Set when nobody waits for it any longer. */
  readonly isDropped: boolean
}

export interface QueueLimits {
  readonly roundTrips: number
  readonly batchRows: number
  readonly batchBytes: number
}

/** Sends entries: `done` is called when they are answered. */
export interface Send<Entry> {
  one(entry: Entry, done: () => void): void
  many(entries: readonly Entry[], done: () => void): void
}

// Two batches in flight: the server works on one while the client works on the other, and both stay large.
const OVERLAP = 2
// A batch with fewer rows costs noticeably more for each of them.
const SMALLEST = 32

/**
 * Natural batching. While few commands are in flight a command goes out alone and at once; what arrives while all round trips are
 * taken waits, and leaves together as soon as one is free. No timer, so nothing is ever delayed for the sake of a batch.
 */
export class BatchQueue<Entry extends Waiting> {
  readonly #send: Send<Entry>
  readonly #limits: QueueLimits
  #waiting: Entry[] = []
  #head = 0
  /** Round trips under way, and the commands in them. */
  #inFlight = 0
  #rows = 0

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

  /** Single commands may use all round trips; as soon as there is a batch among them, a few large ones do better than many small ones. */
  get #hasRoom(): boolean {
    const { roundTrips } = this.#limits
    return this.#inFlight < (this.#rows > this.#inFlight ? Math.min(OVERLAP, roundTrips) : roundTrips)
  }

  add(entry: Entry): void {
    if (!this.#hasRoom || !this.#isEmpty) return void this.#waiting.push(entry)
    this.#inFlight++
    this.#rows++
    this.#send.one(entry, this.#freeOne)
  }

  /** Entries given together leave together; those of many callers in shares, so that not all of them wait for one answer. */
  addAll(entries: readonly Entry[], areOfMany = false): void {
    if (this.#isEmpty) {
      this.#waiting = entries.slice()
      this.#head = 0
    } else for (const entry of entries) this.#waiting.push(entry)
    this.#pump(areOfMany ? this.#share : this.#limits.batchRows)
  }

  /** Takes out what has not been sent, in its order. */
  takeWaiting(): Entry[] {
    const waiting = this.#waiting.slice(this.#head)
    this.#waiting = []
    this.#head = 0
    return waiting
  }

  /** Half of all there is, so that the other half can be under way at the same time. */
  get #share(): number {
    const half = Math.ceil((this.#waiting.length - this.#head + this.#rows) / 2)
    return Math.min(this.#limits.batchRows, Math.max(half, SMALLEST))
  }

  #pump(rows: number): void {
    while (this.#hasRoom && !this.#isEmpty) {
      const batch = this.#nextBatch(rows)
      if (batch.length > 0) this.#dispatch(batch)
    }
  }

  #dispatch(batch: readonly Entry[]): void {
    const rows = batch.length
    this.#inFlight++
    this.#rows += rows
    if (rows === 1) return this.#send.one(batch[0], this.#freeOne)
    // A batch holds its place until the callers it answered had the chance to ask again, so that they leave together too.
    this.#send.many(batch, () => void setImmediate(() => this.#free(rows)))
  }

  readonly #freeOne = (): void => this.#free(1)

  #free(rows: number): void {
    this.#inFlight--
    this.#rows -= rows
    this.#pump(this.#share)
  }

  /** From the front: as many as the limits allow, one for each record, because rows of one batch may run in any order. */
  #nextBatch(batchRows: number): Entry[] {
    const { batchBytes } = this.#limits
    const batch: Entry[] = []
    const later: Entry[] = []
    const seen = new Set<UserKey>()
    let bytes = 0
    let next = this.#head
    // A bounded look ahead: thousands of commands for one record must not be gone through for each of them.
    const end = Math.min(this.#waiting.length, next + 2 * batchRows)
    for (; next < end && batch.length < batchRows; next++) {
      const entry = this.#waiting[next]
      if (entry.isDropped) continue
      // Counted once: it is worked out each time it is asked for.
      const more = bytes + entry.bytes
      if (batch.length > 0 && more > batchBytes) break
      if (entry.key !== undefined && isInBatch(entry.key, batch, seen)) later.push(entry)
      else {
        batch.push(entry)
        bytes = more
      }
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

/** Looks at the user keys first, which are at hand and seldom equal; notes those it has `seen`. */
function isInBatch(key: RecordKey, batch: readonly Waiting[], seen: Set<UserKey>): boolean {
  const id = comparable(key.key)
  if (!seen.has(id)) {
    seen.add(id)
    return false
  }
  const { namespace, set } = key
  return batch.some(
    ({ key: other }) => other!.set === set && other!.namespace === namespace && comparable(other!.key) === id,
  )
}

/** Equal for keys of one record. Those of two records may be equal too: a text can look like bytes. */
function comparable(key: UserKey): UserKey {
  if (typeof key === 'bigint') return BigInt(Number(key)) === key ? Number(key) : key
  if (key instanceof Uint8Array) return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
  return key
}
