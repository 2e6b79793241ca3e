import { nameErrorClass } from './error-kind.js'
import { SkeinError, type ErrorOptions } from './skein-error.js'

/** `load` found no record under the key. */
export class NotFoundError extends SkeinError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_3001', message, options)
  }
}
nameErrorClass(NotFoundError, 'NotFoundError')

/** A new entity was saved, but its key is taken. */
export class AlreadyExistsError extends SkeinError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_3002', message, options)
  }
}
nameErrorClass(AlreadyExistsError, 'AlreadyExistsError')

/** An entity that must be stored was saved, and is not: it was deleted, has expired or was never there. */
export class EntityGoneError extends SkeinError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_3003', message, options)
  }
}
nameErrorClass(EntityGoneError, 'EntityGoneError')

/** The version bin (or a compare-and-set of a relation) no longer has the value this session knew. */
export class VersionConflictError extends SkeinError {
  readonly expected: unknown
  readonly stored: unknown

  constructor(message: string, options: ErrorOptions & { expected?: unknown; stored?: unknown } = {}) {
    const { expected, stored, ...rest } = options
    super('SKEIN_3004', message, rest)
    this.expected = expected
    this.stored = stored
  }
}
nameErrorClass(VersionConflictError, 'VersionConflictError')

export interface ValidationFailure extends Pick<ErrorOptions, 'className' | 'key'> {
  /** Path of the property, for instance `address.city` or, of a child inside the record, `lines["bulb"].quantity`. */
  readonly property: string
  /** The key of that child, or of the other end of the link whose attributes these are. */
  readonly partKey?: ErrorOptions['key']
  readonly constraint: string
  readonly message: string
}

/** Rules of changed entities failed; all failures of the flush are listed. Nothing was sent. */
export class ValidationFailedError extends SkeinError {
  readonly failures: readonly ValidationFailure[]

  constructor(message: string, options: ErrorOptions & { failures: readonly ValidationFailure[] }) {
    const { failures, ...rest } = options
    super('SKEIN_3005', message, rest)
    this.failures = failures
  }
}
nameErrorClass(ValidationFailedError, 'ValidationFailedError')

/** The server refused a record because of its size. Sizes are in bytes, where known. */
export class RecordTooLargeError extends SkeinError {
  readonly size: number | undefined
  readonly limit: number | undefined

  constructor(message: string, options: ErrorOptions & { size?: number; limit?: number } = {}) {
    const { size, limit, ...rest } = options
    super('SKEIN_3006', message, rest)
    this.size = size
    this.limit = limit
  }
}
nameErrorClass(RecordTooLargeError, 'RecordTooLargeError')

/** A delete was refused because a relation that forbids it still has members. */
export class RestrictedError extends SkeinError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('SKEIN_3007', message, options)
  }
}
nameErrorClass(RestrictedError, 'RestrictedError')
