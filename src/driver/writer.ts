import { read, type DeleteCommand, type WriteCommand } from '../plan/command.js'
import { afterDoubt } from '../plan/effects.js'
import type { ClientRecord, NativeTransaction } from './aerospike-client.js'
import type { Failure } from './command-errors.js'
import { dropOnAbort } from './drop-on-abort.js'
import type { Gate } from './gates.js'
import { Lanes } from './lanes.js'
import type { Outcome } from './outcome.js'
import { callAlone, callBatch, OneSettled, PendingWrite, type WriteReceiver } from './pending-write.js'
import { binsToJudge, judge } from './read-back.js'
import type { Reader, ReaderParts } from './reader.js'
import { addSizes, warnAboutSize } from './record-size.js'
import { doubtful, notWritten, type Refusal, refusalOf, refusalOfBatch, refusalOfRow, refused } from './refusals.js'
import { Rest } from './retry.js'
import { CODE, isNoAnswer, isTransient, isWithoutRoom } from './status.js'
import { addStoredVersion } from './stored-version.js'

interface WriterParts extends ReaderParts {
  readonly reader: Reader
  /** True when deletes in this namespace leave a tombstone where the class does not say. */
  readonly durableDelete: (namespace: string) => boolean
  readonly maxRecordSize: (namespace: string) => number
}

type Command = WriteCommand | DeleteCommand

/** Writes and deletes records, alone or in batches, and finds out what became of those whose answer was lost. */
export class Writer {
  readonly #parts: WriterParts
  readonly #lanes: Lanes<PendingWrite>
  readonly #rest = new Rest()
  #settling = 0

  constructor(parts: WriterParts) {
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
    return this.#lanes.isIdle && this.#rest.isIdle && this.#settling === 0
  }

  /** Resolves with an outcome for each command; rejects only when a command cannot be sent at all. */
  writeAll(commands: readonly Command[], signal?: AbortSignal): Promise<Outcome[]> {
    return new Promise((resolve) => {
      const outcomes = new Array<Outcome>(commands.length)
      let left = commands.length
      let stopListening: (() => void) | undefined
      if (left === 0) return resolve(outcomes)
      // All are converted before the first is sent: a value that cannot be sent must not leave half a stage behind.
      const entries = commands.map((command, i) => {
        const settled = (outcome: Outcome): void => {
          outcomes[i] = outcome
          if (--left > 0) return
          stopListening?.()
          resolve(outcomes)
        }
        return this.#pending(command, new OneSettled(settled))
      })
      if (signal !== undefined) stopListening = dropOnAbort(entries, signal)
      if (entries.length === 1) return this.#enqueue(entries[0])
      this.#lanes.addAll(entries.filter((entry) => !entry.goesAlone))
      for (const entry of entries) if (entry.goesAlone) this.#enqueue(entry)
    })
  }

  /** Writes one command at the lowest cost: the receiver is told. Throws when the command cannot be sent at all. */
  writeInto(command: Command, receiver: WriteReceiver): void {
    this.#enqueue(this.#pending(command, receiver))
  }

  /**
   * A write inside a transaction: always a call of its own, and never repeated once it was sent, because the transaction is repeated as a
   * whole. Writes of all nodes first go to the node of the transaction's monitor record, where the client may be out of connections.
   */
  async writeInTransaction(command: Command, transaction: NativeTransaction): Promise<Outcome> {
    const entry = new PendingWrite(command, true)
    const gate = this.#parts.gates.of(command.key)
    for (;;) {
      await gate.enter()
      const { refusal, record } = await this.#callInTransaction(entry, transaction)
      gate.leave()
      if (refusal !== undefined && isNoAnswer(refusal.failure.code)) this.#parts.health.noteFailure(entry)
      const isUnsent = refusal !== undefined && isWithoutRoom(refusal.failure.code)
      const wait = isUnsent ? entry.tries.next(this.#parts.retry) : undefined
      if (wait !== undefined) await new Promise((resolve) => setTimeout(resolve, wait))
      else return this.#complete(refusal === undefined ? entry.written(record) : refused(command, refusal), true)
    }
  }

  #callInTransaction(
    entry: PendingWrite,
    transaction: NativeTransaction,
  ): Promise<{ readonly refusal?: Refusal; readonly record?: Partial<ClientRecord> }> {
    const watch = this.#watch(1, true)
    return new Promise((resolve) => {
      callAlone(
        entry,
        this.#parts,
        (error, record) => {
          const refusal = error === null ? undefined : refusalOf(error)
          watch?.(entry, refusal)
          resolve({ refusal, record })
        },
        transaction,
      )
    })
  }

  #pending(command: Command, receiver: WriteReceiver): PendingWrite {
    const asked = command.kind === 'delete' ? command.durableDelete : undefined
    return new PendingWrite(command, asked ?? this.#parts.durableDelete(command.key.namespace), receiver)
  }

  #enqueue(entry: PendingWrite): void {
    if (entry.isDropped) return
    if (entry.goesAlone) this.#sendAlone(entry)
    else this.#lanes.add(entry)
  }

  #sendOne(entry: PendingWrite, done: () => void): void {
    const watch = this.#watch(1, false)
    entry.isOut = true
    callAlone(entry, this.#parts, (error, record) => {
      entry.isOut = false
      const refusal = error === null ? undefined : refusalOf(error)
      watch?.(entry, refusal)
      if (refusal === undefined) this.#settle(entry, entry.written(record))
      else this.#refused(entry, refusal, 1)
      done()
    })
  }

  #sendBatch(all: readonly PendingWrite[], done: () => void): void {
    const entries = this.#rowsAmong(all)
    if (entries.length === 0) setImmediate(done)
    else if (this.#parts.health.isUnreliable(entries[0])) this.#sendCautiously(entries, done)
    else this.#sendRows(entries, done)
  }

  /** Commands that may be rows of a batch; the others are sent alone. */
  #rowsAmong(all: readonly PendingWrite[]): readonly PendingWrite[] {
    const { client } = this.#parts
    if (all.every((entry) => entry.mayBeRow(client))) return all
    for (const entry of all) if (!entry.mayBeRow(client)) this.#sendAlone(entry)
    return all.filter((entry) => entry.mayBeRow(client))
  }

  /**
   * A batch that fails as a whole leaves all its rows in doubt; a command of its own is nearly always known not to have been written. So while a
   * node is unreliable only those share a batch that may simply be repeated.
   */
  #sendCautiously(entries: readonly PendingWrite[], done: () => void): void {
    const repeatable = entries.filter(({ command }) => afterDoubt(command) === 'repeat')
    for (const entry of entries) if (afterDoubt(entry.command) !== 'repeat') this.#sendAlone(entry)
    if (repeatable.length > 1) this.#sendRows(repeatable, done)
    else if (repeatable.length === 1) this.#sendOne(repeatable[0], done)
    else setImmediate(done)
  }

  #sendRows(entries: readonly PendingWrite[], done: () => void): void {
    const watch = this.#watch(entries.length, false)
    for (const entry of entries) entry.isOut = true
    callBatch(entries, this.#parts, (error, rows) => {
      const lost = error === null ? undefined : refusalOfBatch(error)
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[i]
        entry.isOut = false
        const refusal = lost ?? (rows[i].status === CODE.OK ? undefined : refusalOfRow(rows[i]))
        watch?.(entry, refusal)
        if (refusal === undefined) this.#settle(entry, entry.written(rows[i].record))
        else this.#refused(entry, refusal, entries.length)
      }
      done()
    })
  }

  #sendAlone(entry: PendingWrite): void {
    const gate = this.#parts.gates.of(entry.key)
    // Usually there is room, and a promise would cost more than the gate.
    if (gate.tryEnter()) this.#sendThrough(gate, entry)
    else void gate.enter().then(() => this.#sendThrough(gate, entry))
  }

  #sendThrough(gate: Gate, entry: PendingWrite): void {
    if (entry.isDropped) gate.leave()
    else this.#sendOne(entry, () => gate.leave())
  }

  #refused(entry: PendingWrite, { failure, inDoubt }: Refusal, rows: number): void {
    // A batch that the client refuses as a whole says nothing about its rows: each is tried by itself.
    if (failure.code === CODE.PARAM && rows > 1) return this.#sendAlone(entry)
    if (inDoubt) entry.isInDoubt = true
    if (failure.code === CODE.KEY_BUSY) entry.busy++
    if (isNoAnswer(failure.code)) this.#parts.health.noteFailure(entry)
    if (!isTransient(failure.code)) return this.#refusedForGood(entry, failure)
    if (!inDoubt) return this.#again(entry, failure)
    switch (afterDoubt(entry.command)) {
      case 'repeat':
        return this.#again(entry, failure)
      case 'readBack':
        return void this.#readBack(entry, failure)
      case 'report':
        return this.#settle(entry, doubtful(entry, failure))
    }
  }

  #again(entry: PendingWrite, failure: Failure): void {
    const wait = entry.isDropped ? undefined : entry.tries.next(this.#parts.retry)
    if (wait === undefined)
      return this.#settle(entry, entry.isInDoubt ? doubtful(entry, failure) : notWritten(entry, failure))
    this.#rest.after(wait, () => this.#enqueue(entry))
  }

  /** The server said no. After an earlier try in doubt that may be because the earlier one took effect. */
  #refusedForGood(entry: PendingWrite, failure: Failure): void {
    const { code } = failure
    if (entry.isInDoubt) {
      if (entry.command.kind === 'delete' && code === CODE.NOT_FOUND) return this.#settle(entry, entry.written())
      const mayBeOurs = code === CODE.EXISTS || code === CODE.FILTERED_OUT || code === CODE.GENERATION
      if (mayBeOurs) return void this.#readBack(entry, failure)
      if (code !== CODE.NOT_FOUND) return void this.#readBack(entry, failure, true)
    }
    this.#settle(entry, notWritten(entry, failure))
  }

  /** Asks the record whether a write whose answer was lost is in it. `isRefused`: it was repeated, and the server does not take it now. */
  async #readBack(entry: PendingWrite, failure: Failure, isRefused = false): Promise<void> {
    const { command } = entry
    this.#settling++
    // A record that cannot be read stays in doubt; the lost answer is the error to report.
    const found = await this.#parts.reader
      .readSince(read(command.entity, command.key, binsToJudge(command)), entry.tries.began)
      .catch(() => undefined)
    this.#settling--
    const verdict = found === undefined ? 'unknown' : judge(command, found)
    if (verdict === 'applied') this.#settle(entry, entry.written({ gen: found?.generation }))
    else if (verdict === 'notApplied' && isRefused) this.#settle(entry, notWritten(entry, failure))
    else if (verdict === 'notApplied') this.#again(entry, failure)
    else if (verdict === 'lost') this.#settle(entry, notWritten(entry, { code: CODE.FILTERED_OUT }))
    else this.#settle(entry, doubtful(entry, failure, isRefused))
  }

  #settle(entry: PendingWrite, outcome: Outcome): void {
    if (outcome.state === 'written' && outcome.size === undefined) return entry.settle(outcome)
    this.#settling++
    void this.#complete(outcome).then((completed) => {
      this.#settling--
      entry.settle(completed)
    })
  }

  /** Adds what a caller needs to understand the outcome and only the server knows. */
  async #complete(outcome: Outcome, inTransaction = false): Promise<Outcome> {
    const { events, limits, reader, maxRecordSize } = this.#parts
    if (outcome.reason === 'guard') return addStoredVersion(outcome, reader)
    if (outcome.reason === 'tooLarge') return addSizes(outcome, maxRecordSize(outcome.command.key.namespace), reader)
    const { size } = outcome
    if (size === undefined || size <= limits.warnRecordSize || !events.hearsWarnings) return outcome
    return warnAboutSize({ ...outcome, size }, limits.warnRecordSize, events, inTransaction ? undefined : reader)
  }

  #watch(rows: number, inTransaction: boolean): Watch | undefined {
    const { events } = this.#parts
    if (!events.isWatched) return undefined
    const roundTrip = events.nextRoundTrip()
    const began = performance.now()
    return ({ command, attempt, inContext, session }, refusal) => {
      const code = refusal === undefined ? CODE.OK : refusal.failure.code
      const ms = performance.now() - began
      events.command(command, { ms, roundTrip, rows, code, attempt, inTransaction, session }, inContext)
    }
  }
}

/** Publishes the outcome of a command to those who listen to events. */
type Watch = (entry: PendingWrite, refusal: Refusal | undefined) => void
