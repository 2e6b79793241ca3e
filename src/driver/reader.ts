import { SkeinError } from '../errors/index.js'
import type { ReadCommand } from '../plan/command.js'
import { checkResultNames } from '../plan/result-names.js'
import type { BatchRowResult, ClientCalls, ClientError, ClientRecord, NativeTransaction } from './aerospike-client.js'
import { BatchQueue } from './batch-queue.js'
import { clientOperation } from './client-operations.js'
import { clientKey, readRow, storedRecord } from './client-record.js'
import { explainFailure, failureOf, type Failure } from './command-errors.js'
import type { Events } from './events.js'
import type { Gate } from './gate.js'
import type { Limits, RetryOptions } from './options.js'
import type { StoredRecord } from './outcome.js'
import type { Policies } from './policies.js'
import { Rest, Tries } from './retry.js'
import { CODE, isTransient } from './status.js'

type Found = StoredRecord | null

/** Who waits for a read; is told once, and must not throw. */
export interface Receiver {
  found(record: Found): void
  failed(error: unknown): void
}

/** One read on its way: waits, is sent alone or as a row, and may be sent again. */
class PendingRead {
  #tries: Tries | undefined
  isDropped = false

  constructor(
    readonly command: ReadCommand,
    readonly receiver: Receiver,
  ) {}

  /** Reads of one record may run in any order. */
  get id(): undefined {
    return undefined
  }

  /** The request of a read is small: the row limit of a batch bounds it. */
  get bytes(): number {
    return 0
  }

  get attempt(): number {
    return this.#tries?.count ?? 1
  }

  get tries(): Tries {
    return (this.#tries ??= new Tries())
  }
}

export interface ReaderParts {
  readonly client: ClientCalls
  readonly policies: Policies
  readonly events: Events
  readonly limits: Limits
  readonly retry: RetryOptions
  /** For calls that cannot share a batch with others. */
  readonly alone: Gate
}

/** Reads records, alone or in batches, and tries again what the server could not answer. */
export class Reader {
  readonly #parts: ReaderParts
  readonly #queue: BatchQueue<PendingRead>
  readonly #rest = new Rest()

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#queue = new BatchQueue(
      {
        one: (entry, done) => this.#sendOne(entry, done),
        many: (entries, done) => this.#sendBatch(entries, done),
      },
      parts.limits,
    )
  }

  get isIdle(): boolean {
    return this.#queue.isIdle && this.#rest.isIdle
  }

  read(command: ReadCommand, signal?: AbortSignal): Promise<Found> {
    return new Promise((found, failed) => {
      this.#queue.add(this.#pending(command, { found, failed }, signal))
    })
  }

  readAll(commands: readonly ReadCommand[], signal?: AbortSignal): Promise<Found[]> {
    if (commands.length === 1) return this.read(commands[0], signal).then((found) => [found])
    return new Promise((resolve, reject) => {
      const found = new Array<Found>(commands.length)
      let left = commands.length
      if (left === 0) return resolve(found)
      const entries = commands.map((command, i) => {
        const take = (one: Found): void => {
          found[i] = one
          if (--left === 0) resolve(found)
        }
        return this.#pending(command, { found: take, failed: reject }, signal)
      })
      this.#queue.addAll(entries)
    })
  }

  /** The commands leave together, but each has its own answer or error, told to the receiver at the same place. */
  readInto(commands: readonly ReadCommand[], receivers: readonly Receiver[]): void {
    if (commands.length === 1) this.#queue.add(this.#pending(commands[0], receivers[0], undefined))
    else this.#queue.addAll(commands.map((command, i) => this.#pending(command, receivers[i], undefined)))
  }

  /** Reads inside a transaction: calls of their own, never repeated here, because the transaction is repeated as a whole. */
  async readInTransaction(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<Found[]> {
    commands.forEach(checkResultNames)
    const { batchRows } = this.#parts.limits
    const answers: Found[] = []
    for (let i = 0; i < commands.length; i += batchRows) {
      answers.push(...(await this.#readRows(commands.slice(i, i + batchRows), transaction)))
    }
    return answers
  }

  async #readRows(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<Found[]> {
    const { client, policies, alone } = this.#parts
    await alone.enter()
    const watch = this.#watch(commands.length, true)
    try {
      const rows = await client.batchRead(commands.map(readRow), policies.batchRead(transaction))
      return rows.map(({ status, record }, i) => {
        watch(commands[i], status, 1)
        if (status === CODE.OK) return storedRecord(record)
        if (status === CODE.NOT_FOUND) return null
        throw explainFailure(commands[i], { code: status }, true).error
      })
    } catch (error) {
      if (error instanceof SkeinError) throw error
      throw explainFailure(commands[0], failureOf(error as ClientError), true).error
    } finally {
      alone.leave()
    }
  }

  #pending(command: ReadCommand, receiver: Receiver, signal: AbortSignal | undefined): PendingRead {
    checkResultNames(command)
    if (signal === undefined) return new PendingRead(command, receiver)
    signal.throwIfAborted()
    const stop = (): void => {
      entry.isDropped = true
      receiver.failed(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    const forget = (): void => signal.removeEventListener('abort', stop)
    const entry = new PendingRead(command, {
      found(record) {
        forget()
        receiver.found(record)
      },
      failed(error) {
        forget()
        receiver.failed(error)
      },
    })
    return entry
  }

  #sendOne(entry: PendingRead, done: () => void): void {
    const watch = this.#watch(1, false)
    void this.#call(entry.command).then(
      (record) => {
        watch(entry.command, CODE.OK, entry.attempt)
        entry.receiver.found(record === null ? null : storedRecord(record))
        done()
      },
      (error: ClientError) => {
        const failure = failureOf(error)
        watch(entry.command, failure.code, entry.attempt)
        this.#fail(entry, failure)
        done()
      },
    )
  }

  #call(command: ReadCommand): Promise<ClientRecord | null> {
    const { client, policies } = this.#parts
    const key = clientKey(command.key)
    if (command.operations !== undefined) {
      return client.operate(key, command.operations.map(clientOperation), null, null)
    }
    if (command.bins === 'all') return client.get(key, policies.read())
    if (command.bins === 'none') return client.batchRead([readRow(command)]).then(([row]) => recordOf(row))
    return client.select(key, command.bins, policies.read())
  }

  #sendBatch(entries: readonly PendingRead[], done: () => void): void {
    const watch = this.#watch(entries.length, false)
    void this.#parts.client.batchRead(entries.map((entry) => readRow(entry.command))).then(
      (results) => {
        results.forEach(({ status, record }, i) => {
          const entry = entries[i]
          watch(entry.command, status, entry.attempt)
          if (status === CODE.OK) entry.receiver.found(storedRecord(record))
          else this.#fail(entry, { code: status })
        })
        done()
      },
      (error: ClientError) => {
        const failure = failureOf(error)
        for (const entry of entries) {
          watch(entry.command, failure.code, entry.attempt)
          this.#fail(entry, failure)
        }
        done()
      },
    )
  }

  #fail(entry: PendingRead, failure: Failure): void {
    if (failure.code === CODE.NOT_FOUND) return entry.receiver.found(null)
    if (entry.isDropped) return
    const wait = isTransient(failure.code) ? entry.tries.next(this.#parts.retry) : undefined
    if (wait === undefined) entry.receiver.failed(explainFailure(entry.command, failure).error)
    else this.#rest.after(wait, () => entry.isDropped || this.#queue.add(entry))
  }

  #watch(rows: number, inTransaction: boolean): (command: ReadCommand, code: number, attempt: number) => void {
    const { events } = this.#parts
    if (!events.isWatched) return ignore
    const roundTrip = events.nextRoundTrip()
    const began = performance.now()
    return (command, code, attempt) =>
      events.command(command, { ms: performance.now() - began, roundTrip, rows, code, attempt, inTransaction })
  }
}

function ignore(): void {}

function recordOf(row: BatchRowResult): ClientRecord | null {
  if (row.status === CODE.OK) return row.record
  throw Object.assign(new Error(`The server answered with code ${row.status}.`), { code: row.status })
}
