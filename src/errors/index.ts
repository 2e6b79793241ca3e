export { cut } from './cut.js'
export { quoted, shown } from './shown.js'
export { notACursor } from './not-a-cursor.js'
export { ERROR_CODES, type ErrorCode, type ModelErrorCode } from './codes/all-codes.js'
export { SkeinError, bug, type ErrorDetails, type ErrorOptions } from './skein-error.js'
export { ModelError, type ModelProblem } from './model-error.js'
export {
  AlreadyExistsError,
  EntityGoneError,
  NotFoundError,
  RecordTooLargeError,
  RestrictedError,
  ValidationFailedError,
  VersionConflictError,
  type ValidationFailure,
} from './data-errors.js'
export {
  BulkStoppedError,
  CommitInDoubtError,
  InDoubtError,
  PartialFailureError,
  RetriesExhaustedError,
  type RecordOutcome,
} from './server-errors.js'
