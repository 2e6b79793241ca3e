import type { ReadCommand } from '../plan/command.js'
import { checkResultNames } from '../plan/effects.js'
import type {
  Answered,
  BatchRowResult,
  ClientCalls,
  ClientError,
  ClientRecord,
  NativeTransaction,
} from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { clientKey, storedRecord } from './client-record.js'
import { encodeExpression } from './encode-expression.js'
import { explainFailure, failureOf, type Failure } from './command-errors.js'
import type { ExactReads } from './exact-reads.js'
import { callerSession, type Events } from './events.js'
import type { Gates } from './gates.js'
import { Lanes } from './lanes.js'
import type { NodeHealth } from './node-health.js'
import type { Limits, RetryOptions } from './options.js'
import type { StoredRecord } from './outcome.js'
import type { PartitionOwners } from './partition-owners.js'
import type { Policies } from './policies.js'
import { isAbsent, mayBeRow, ofOneRow, readRow, pendingRead, watchReads, type ReadRequest } from './read-request.js'
import { Rest } from './retry.js'
import { CODE, isNoAnswer, isTransient } from './status.js'

type Found = StoredRecord | null

/** A bin that no record has: what is asked for is only whether there is a record. */
const NO_BIN = '_sk.none'

export interface ReaderParts {
  readonly client: ClientCalls
  readonly policies: Policies
  readonly events: Events
  readonly limits: Limits
  readonly retry: RetryOptions
  /** For calls that cannot share a batch with others. */
  readonly gates: Gates
  readonly owners: PartitionOwners
  readonly health: NodeHealth
  readonly exact: ExactReads | undefined
}

/** Reads records, alone or in batches, and tries again what the server could not answer. */
export class Reader {
  readonly #parts: ReaderParts
  readonly #lanes: Lanes<ReadRequest>
  readonly #rest = new Rest()

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.#lanes = new Lanes(
      {
        one: (entry, done) => this.#sendOne(entry, done),
        many: (entries, done) => this.#sendBatch(entries, done),
      },
      parts.limits,
      parts,
    )
  }

  get isIdle(): boolean {
    return this.#lanes.isIdle && this.#rest.isIdle
  }

  read(command: ReadCommand, signal?: AbortSignal): Promise<Found> {
    return new Promise((found, failed) => {
      const entry = pendingRead(command, { found, failed }, signal)
      if (command.raw !== true) return this.#lanes.add(entry)
      // A batch decodes all of its rows, or none.
      entry.goesAlone = true
      void this.#sendAlone(entry)
    })
  }

  /** Reads on behalf of a command that failed at that time: tried again until that command's deadline. */
  readSince(command: ReadCommand, failedAt: number): Promise<Found> {
    return new Promise((found, failed) => {
      const entry = pendingRead(command, { found, failed }, undefined)
      entry.since = failedAt
      this.#lanes.add(entry)
    })
  }

  /** Reads what is only good to know: never tried again, so that nobody waits for it long. */
  readOnce(command: ReadCommand): Promise<Found> {
    return this.readSince(command, -Infinity)
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
        return pendingRead(command, { found: take, failed: reject }, signal)
      })
      this.#lanes.addAll(entries)
    })
  }

  /** Reads leave together, but each is told its own answer or error; those of many callers may be more than one batch. */
  readInto(requests: readonly ReadRequest[], areOfMany: boolean): void {
    if (requests.length === 1) this.#lanes.add(requests[0])
    else this.#lanes.addAll(requests, areOfMany)
  }

  /** Reads inside a transaction: calls of their own, never repeated here, because the transaction is repeated as a whole. */
  async readInTransaction(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<Found[]> {
    commands.forEach(checkResultNames)
    const { batchRows } = this.#parts.limits
    const answers: Found[] = []
    for (let i = 0; i < commands.length; i += batchRows) {
      answers.push(...(await this.#readByNode(commands.slice(i, i + batchRows), transaction)))
    }
    return answers
  }

  /** Result codes of a batch of reads inside a transaction; that of the call for all of them, when it fails as a whole. */
  codesInTransaction(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<number[]> {
    return this.#rowsOf(commands, transaction).then(
      (rows) => rows.map(({ status }) => status),
      (error: ClientError) => commands.map(() => failureOf(error).code),
    )
  }

  /** A batch for each node, side by side. */
  async #readByNode(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<Found[]> {
    const { owners } = this.#parts
    if (!owners.areMany || commands.length === 1) return this.#readRows(commands, transaction)
    const byLane = new Map<number, ReadCommand[]>()
    for (const command of commands) {
      const lane = owners.laneOf(command.key)
      byLane.set(lane, [...(byLane.get(lane) ?? []), command])
    }
    const found = new Map<ReadCommand, Found>()
    const reads = [...byLane.values()].map(async (own) => {
      const records = await this.#readRows(own, transaction)
      own.forEach((command, i) => found.set(command, records[i]))
    })
    // The transaction is over only when none of them is under way any more.
    const failed = (await Promise.allSettled(reads)).find((read) => read.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return commands.map((command) => found.get(command)!)
  }

  async #readRows(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<Found[]> {
    const rows = await this.#rowsOf(commands, transaction).catch((error: ClientError) => {
      if (isNoAnswer(failureOf(error).code)) this.#parts.health.noteFailure(commands[0])
      throw explainFailure(commands[0], failureOf(error), true).error
    })
    return rows.map(({ status, record }, i) => {
      if (status === CODE.OK) return this.#stored(commands[i], record)
      if (isAbsent(commands[i], status)) return null
      throw explainFailure(commands[i], { code: status }, true).error
    })
  }

  async #rowsOf(commands: readonly ReadCommand[], transaction: NativeTransaction): Promise<readonly BatchRowResult[]> {
    const { exact } = this.#parts
    const send = (some: readonly ReadCommand[], isRaw: boolean): Promise<readonly BatchRowResult[]> =>
      this.#batchOf(some, transaction, isRaw)
    return exact === undefined ? send(commands, false) : exact.inBatches(commands, send)
  }

  async #batchOf(
    commands: readonly ReadCommand[],
    transaction: NativeTransaction,
    isRaw: boolean,
  ): Promise<readonly BatchRowResult[]> {
    const { client, policies, gates, events } = this.#parts
    const bad = commands.find((command) => !mayBeRow(command, client))
    if (bad !== undefined) throw explainFailure(bad, { code: CODE.PARAM }, true).error
    const gate = gates.of(commands[0].key)
    await gate.enter()
    const watch = watchReads(events, commands.length, true)
    try {
      const rows = await client.batchRead(
        commands.map((command) => readRow(command, policies)),
        policies.batchRead(transaction, isRaw),
      )
      rows.forEach(({ status }, i) => watch?.({ command: commands[i], attempt: 1, session: callerSession() }, status))
      return rows
    } finally {
      gate.leave()
    }
  }

  #sendOne(entry: ReadRequest, done: () => void): void {
    const watch = watchReads(this.#parts.events, 1)
    this.#call(entry, (error, record) => {
      const failure = error === null ? undefined : failureOf(error)
      watch?.(entry, failure?.code ?? CODE.OK)
      if (failure === undefined) entry.found(this.#stored(entry.command, record))
      else this.#fail(entry, failure, 1)
      done()
    })
  }

  #call({ command, goesAlone }: ReadRequest, answered: Answered<ClientRecord>): void {
    const { client, policies, exact } = this.#parts
    const { bins, operations } = command
    const key = clientKey(command.key)
    try {
      const filter = command.filter && encodeExpression(command.filter)
      if (operations !== undefined)
        client.operate(key, operations.map(clientOperation), null, policies.readOperations(filter), answered)
      else if (bins === 'none' && goesAlone) client.select(key, [NO_BIN], policies.read(filter), answered)
      else if (bins === 'none') client.batchRead([readRow(command, policies)], null, ofOneRow(answered))
      else {
        const isRaw = command.raw === true || exact?.isRead(command) === true
        const policy = isRaw ? policies.rawRead(filter) : policies.read(filter)
        if (bins === 'all') client.get(key, policy, answered)
        else client.select(key, bins, policy, answered)
      }
    } catch (error) {
      process.nextTick(answered, error, undefined)
    }
  }

  #sendBatch(all: readonly ReadRequest[], done: () => void): void {
    const { exact, events, client } = this.#parts
    const entries = all.filter(({ command }) => mayBeRow(command, client))
    if (entries.length < all.length) for (const entry of all) if (!entries.includes(entry)) void this.#sendAlone(entry)
    if (entries.length === 0) return void setImmediate(done)
    const [raw, decoded] = exact?.divide(entries, ({ command }) => command) ?? [[], entries]
    if (raw.length === 0 || decoded.length === 0) return this.#sendRows(entries, raw.length > 0, done)
    let left = 2
    const both = (): void => void (--left === 0 && done())
    events.together(() => [raw, decoded].forEach((some) => this.#sendRows(some, some === raw, both)))
  }

  #sendRows(entries: readonly ReadRequest[], isRaw: boolean, done: () => void): void {
    const watch = watchReads(this.#parts.events, entries.length)
    const answered: Answered<BatchRowResult[]> = (error, rows) => {
      const lost = error === null ? undefined : failureOf(error)
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[i]
        const code = lost === undefined ? rows[i].status : lost.code
        watch?.(entry, code)
        if (code === CODE.OK) entry.found(this.#stored(entry.command, rows[i].record))
        else this.#fail(entry, lost ?? { code }, entries.length)
      }
      done()
    }
    try {
      const { client, policies } = this.#parts
      const rows = entries.map((entry) => readRow(entry.command, policies))
      client.batchRead(rows, policies.batchRead(undefined, isRaw), answered)
    } catch (error) {
      process.nextTick(answered, error, [])
    }
  }

  #stored(command: ReadCommand, record: ClientRecord): StoredRecord {
    return this.#parts.exact?.record(command, record) ?? storedRecord(record)
  }

  async #sendAlone(entry: ReadRequest): Promise<void> {
    const gate = this.#parts.gates.of(entry.command.key)
    await gate.enter()
    if (entry.isDropped) gate.leave()
    else this.#sendOne(entry, () => gate.leave())
  }

  #fail(entry: ReadRequest, failure: Failure, rows: number): void {
    if (isAbsent(entry.command, failure.code)) return entry.found(null)
    if (entry.isDropped) return
    if (isNoAnswer(failure.code)) {
      this.#parts.health.noteFailure(entry.command)
      // The client takes a read of its own to the replica when the master is gone, but not the rows of a batch.
      if (rows > 1) entry.goesAlone = true
    }
    const wait = isTransient(failure.code) ? entry.tries.next(this.#parts.retry) : undefined
    if (wait === undefined) entry.failed(explainFailure(entry.command, failure).error)
    else this.#rest.after(wait, () => this.#again(entry))
  }

  #again(entry: ReadRequest): void {
    if (entry.isDropped) return
    if (entry.goesAlone) void this.#sendAlone(entry)
    else this.#lanes.add(entry)
  }
}
