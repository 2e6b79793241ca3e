import { read, type DeleteCommand, type WriteCommand } from '../plan/command.js'
import { afterDoubt } from '../plan/repeatable.js'
import type { NativeTransaction } from './aerospike-client.js'
import { BatchQueue } from './batch-queue.js'
import { explainFailure, inDoubtError, notSentError, type Failure } from './command-errors.js'
import type { Outcome } from './outcome.js'
import { noBins, PendingWrite } from './pending-write.js'
import { binsToJudge, judge } from './read-back.js'
import type { Reader, ReaderParts } from './reader.js'
import { addSizes, warnAboutSize } from './record-size.js'
import { Rest } from './retry.js'
import { CODE, isTransient } from './status.js'
import { addStoredVersion } from './stored-version.js'
import { callAlone, callBatch, type Answer } from './write-call.js'

export interface WriterParts extends ReaderParts {
  readonly reader: Reader
  /** Whether deletes in this namespace must leave a tombstone. */
  readonly durableDelete: (namespace: string) => boolean
  readonly maxRecordSize: (namespace: string) => number
}

type Command = WriteCommand | DeleteCommand

/** Writes and deletes records, alone or in batches, and finds out what became of those whose answer was lost. */
export class Writer {
  readonly #parts: WriterParts
  readonly #queue: BatchQueue<PendingWrite>
  readonly #rest = new Rest()
  #settling = 0

  constructor(parts: WriterParts) {
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
    return this.#queue.isIdle && this.#rest.isIdle && this.#settling === 0
  }

  /** One outcome for each command; rejects only when a command cannot be sent at all. */
  async writeAll(commands: readonly Command[], signal?: AbortSignal): Promise<Outcome[]> {
    // All are converted before the first is sent: a value that cannot be sent must not leave half a stage behind.
    const entries = commands.map((command) => this.#pending(command))
    const stopListening = signal === undefined ? undefined : dropOnAbort(entries, signal)
    if (entries.length === 1) this.#enqueue(entries[0])
    else {
      this.#queue.addAll(entries.filter((entry) => !entry.goesAlone))
      for (const entry of entries) if (entry.goesAlone) this.#enqueue(entry)
    }
    const outcomes = await Promise.all(entries.map((entry) => entry.outcome))
    stopListening?.()
    return outcomes
  }

  /** The same for one command, at the lowest cost. */
  write(command: Command): Promise<Outcome> {
    const entry = this.#pending(command)
    this.#enqueue(entry)
    return entry.outcome
  }

  /** A write inside a transaction: always a call of its own, never repeated, because the transaction is repeated as a whole. */
  async writeInTransaction(command: Command, transaction: NativeTransaction): Promise<Outcome> {
    const entry = new PendingWrite(command, true)
    await this.#parts.alone.enter()
    const watch = this.#watch(1, true)
    const answer = await callAlone(entry, this.#parts, transaction)
    this.#parts.alone.leave()
    watch(entry, answer)
    if ('record' in answer) return this.#complete(entry.written(answer.record))
    const explained = explainFailure(command, answer.failure, true)
    return this.#complete({ command, state: answer.inDoubt ? 'inDoubt' : 'notWritten', bins: noBins(), ...explained })
  }

  #pending(command: Command): PendingWrite {
    return new PendingWrite(command, this.#parts.durableDelete(command.key.namespace))
  }

  #enqueue(entry: PendingWrite): void {
    if (entry.isDropped) return
    if (entry.goesAlone) void this.#sendAlone(entry)
    else this.#queue.add(entry)
  }

  #sendOne(entry: PendingWrite, done: () => void): void {
    const watch = this.#watch(1, false)
    entry.isOut = true
    void callAlone(entry, this.#parts).then((answer) => {
      entry.isOut = false
      watch(entry, answer)
      this.#take(entry, answer, 1)
      done()
    })
  }

  #sendBatch(entries: readonly PendingWrite[], done: () => void): void {
    const watch = this.#watch(entries.length, false)
    for (const entry of entries) entry.isOut = true
    void callBatch(entries, this.#parts).then((answers) => {
      entries.forEach((entry, i) => {
        entry.isOut = false
        watch(entry, answers[i])
        this.#take(entry, answers[i], entries.length)
      })
      done()
    })
  }

  async #sendAlone(entry: PendingWrite): Promise<void> {
    const { alone } = this.#parts
    await alone.enter()
    if (entry.isDropped) alone.leave()
    else this.#sendOne(entry, () => alone.leave())
  }

  #take(entry: PendingWrite, answer: Answer, rows: number): void {
    if ('record' in answer) return this.#settle(entry, entry.written(answer.record))
    const { failure, inDoubt } = answer
    // A batch that the client refuses as a whole says nothing about its rows: each is tried by itself.
    if (failure.code === CODE.PARAM && rows > 1) return void this.#sendAlone(entry)
    if (inDoubt) entry.isInDoubt = true
    if (!isTransient(failure.code)) return this.#refused(entry, failure)
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
  #refused(entry: PendingWrite, failure: Failure): void {
    const { code } = failure
    if (entry.isInDoubt) {
      if (entry.command.kind === 'delete' && code === CODE.NOT_FOUND) return this.#settle(entry, entry.written())
      const mayBeOurs = code === CODE.EXISTS || code === CODE.FILTERED_OUT || code === CODE.GENERATION
      if (mayBeOurs) return void this.#readBack(entry, failure)
    }
    this.#settle(entry, notWritten(entry, failure))
  }

  async #readBack(entry: PendingWrite, failure: Failure): Promise<void> {
    const { command } = entry
    this.#settling++
    // What cannot be read stays in doubt; the lost answer is the error to report.
    const found = await this.#parts.reader
      .read(read(command.entity, command.key, binsToJudge(command)))
      .catch(() => undefined)
    this.#settling--
    const verdict = found === undefined ? 'unknown' : judge(command, found)
    if (verdict === 'applied') this.#settle(entry, entry.written({ gen: found?.generation }))
    else if (verdict === 'notApplied') this.#again(entry, failure)
    else if (verdict === 'lost') this.#settle(entry, notWritten(entry, { code: CODE.FILTERED_OUT }))
    else this.#settle(entry, doubtful(entry, failure))
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
  async #complete(outcome: Outcome): Promise<Outcome> {
    const { events, limits, reader, maxRecordSize } = this.#parts
    warnAboutSize(outcome, limits.warnRecordSize, events)
    if (outcome.reason === 'guard') return addStoredVersion(outcome, reader)
    if (outcome.reason === 'tooLarge') return addSizes(outcome, maxRecordSize(outcome.command.key.namespace), reader)
    return outcome
  }

  #watch(rows: number, inTransaction: boolean): (entry: PendingWrite, answer: Answer) => void {
    const { events } = this.#parts
    if (!events.isWatched) return ignore
    const roundTrip = events.nextRoundTrip()
    const began = performance.now()
    return ({ command, attempt }, answer) => {
      const code = 'record' in answer ? CODE.OK : answer.failure.code
      events.command(command, {
        ms: performance.now() - began,
        roundTrip,
        rows,
        code,
        attempt,
        inTransaction,
      })
    }
  }
}

function ignore(): void {}

function notWritten({ command }: PendingWrite, failure: Failure): Outcome {
  return { command, state: 'notWritten', bins: noBins(), ...explainFailure(command, failure) }
}

function doubtful({ command }: PendingWrite, failure: Failure): Outcome {
  return { command, state: 'inDoubt', bins: noBins(), reason: 'unavailable', error: inDoubtError(command, failure) }
}

/** Commands that wait when the signal fires are never sent; those that are out are waited for, but not repeated. */
function dropOnAbort(entries: readonly PendingWrite[], signal: AbortSignal): () => void {
  const drop = (): void => {
    for (const entry of entries) {
      entry.isDropped = true
      if (!entry.isOut) entry.settle(notSent(entry, signal.reason))
    }
  }
  if (signal.aborted) drop()
  else signal.addEventListener('abort', drop, { once: true })
  return () => signal.removeEventListener('abort', drop)
}

function notSent(entry: PendingWrite, cause: unknown): Outcome {
  if (entry.isInDoubt) return doubtful(entry, { code: CODE.TIMEOUT })
  const { command } = entry
  return { command, state: 'notWritten', bins: noBins(), reason: 'notSent', error: notSentError(command, cause) }
}
