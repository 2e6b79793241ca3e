import { nameErrorClass } from './error-kind.js'
import { SkeinError, type ErrorDetails, type ErrorOptions } from './skein-error.js'

/** Outcome of one record of a flush. */
export interface RecordOutcome extends ErrorDetails {
  /** Partly written: something of it is stored and the rest is not, for instance a new record without its links, or a delete that has begun. */
  readonly outcome: 'written' | 'partlyWritten' | 'notWritten' | 'inDoubt'
  readonly cause?: unknown
}

/** A flush failed part of the way. Every record is listed; calling `flush()` again completes what was not written. */
export class PartialFailureError extends SkeinError {
  declare readonly records: readonly RecordOutcome[]

  constructor(message: string, options: ErrorOptions & { records: readonly RecordOutcome[] }) {
    const { records, ...rest } = options
    super('SKEIN_4001', message, rest)
    // Not printed with the error: the message names the first ones, and there may be thousands.
    Object.defineProperty(this, 'records', { value: records })
  }
}
nameErrorClass(PartialFailureError, 'PartialFailureError')

/** The bounded number of attempts is used up; `cause` is the last failure. */
export class RetriesExhaustedError extends SkeinError {
  readonly attempts: number

  constructor(message: string, options: ErrorOptions & { attempts: number }) {
    const { attempts, ...rest } = options
    super('SKEIN_4002', message, rest)
    this.attempts = attempts
  }
}
nameErrorClass(RetriesExhaustedError, 'RetriesExhaustedError')

/** The commit was sent but its answer never came: it may or may not have happened. */
export class CommitInDoubtError extends SkeinError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_4003', message, options)
  }
}
nameErrorClass(CommitInDoubtError, 'CommitInDoubtError')

/** The answer to a write, or to the start of a bulk operation by the server, was lost: it may or may not have taken effect. */
export class InDoubtError extends SkeinError {
  readonly inDoubt = true

  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_4206', message, options)
  }
}
nameErrorClass(InDoubtError, 'InDoubtError')

/** A bulk operation through sessions stopped after it had written some records; `cause` is the failure that stopped it. */
export class BulkStoppedError extends SkeinError {
  /** Records that were changed or deleted. */
  readonly written: number
  /** Records that met the conditions and were not, in the steps that were begun. */
  readonly failed: number
  /** Keys of those in the last step. */
  readonly keys: readonly NonNullable<ErrorDetails['key']>[]
  /** Keys of the last step that may or may not have been written: the answer was lost. */
  readonly inDoubt: readonly NonNullable<ErrorDetails['key']>[]
  /** Keys of the last step that were written, and are counted as such, although a later hook or a record that changes with them failed. */
  readonly incomplete: readonly NonNullable<ErrorDetails['key']>[]
  /** Keys of the last step that are only begun and not counted as written: `db.sweep(Class)` completes cascading deletes. */
  readonly partlyWritten: readonly NonNullable<ErrorDetails['key']>[]
  /** Goes on after the last step, as `after`; undefined where that was the end. */
  readonly cursor: string | undefined

  constructor(
    message: string,
    options: ErrorOptions &
      Pick<BulkStoppedError, 'written' | 'failed' | 'keys'> &
      Partial<Pick<BulkStoppedError, 'inDoubt' | 'incomplete' | 'partlyWritten' | 'cursor'>>,
  ) {
    const { written, failed, keys, inDoubt = [], incomplete = [], partlyWritten = [], cursor, ...rest } = options
    super('SKEIN_4004', message, rest)
    this.written = written
    this.failed = failed
    this.keys = keys
    this.inDoubt = inDoubt
    this.incomplete = incomplete
    this.partlyWritten = partlyWritten
    this.cursor = cursor
  }
}
nameErrorClass(BulkStoppedError, 'BulkStoppedError')
