import type { DeleteCommand, WriteCommand } from '../plan/command.js'
import type { Outcome } from '../plan/outcome.js'
import type { BatchRowResult, ClientError } from './aerospike-client.js'
import { NO_BINS } from './client-record.js'
import {
  explainFailure,
  type Failure,
  failureOf,
  inDoubtError,
  isWithoutNodes,
  notSentError,
} from './command-errors.js'
import type { PendingWrite } from './pending-write.js'
import { CODE, isNoAnswer } from './status.js'

/** Reason why a write was not confirmed, whether it went alone or as a row. */
export interface Refusal {
  readonly failure: Failure
  readonly inDoubt: boolean
}

export const refusalOf = (error: ClientError): Refusal => ({
  failure: failureOf(error),
  inDoubt: error.inDoubt === true,
})

/** The rows' own states are lost with the call, so anything but a refusal leaves each of them in doubt. Without a node, none was sent. */
export function refusalOfBatch(error: ClientError): Refusal {
  const failure = failureOf(error)
  const mayBeSent = isNoAnswer(failure.code) && !isWithoutNodes(error)
  return { failure, inDoubt: error.inDoubt === true || mayBeSent }
}

// The client does not mark a row in doubt that the server answered with a time-out, though it may have taken effect.
export const refusalOfRow = ({ status, inDoubt }: BatchRowResult): Refusal => ({
  failure: { code: status },
  inDoubt: inDoubt || status === CODE.TIMEOUT || status === CODE.NO_RESPONSE,
})

/** Outcome of a write that a transaction was refused. */
export function refused(command: WriteCommand | DeleteCommand, { failure, inDoubt }: Refusal): Outcome {
  const state = inDoubt ? 'inDoubt' : 'notWritten'
  return { command, state, bins: NO_BINS, ...explainFailure(command, failure, true) }
}

export function notWritten({ command }: PendingWrite, failure: Failure): Outcome {
  return { command, state: 'notWritten', bins: NO_BINS, ...explainFailure(command, failure) }
}

export function doubtful({ command }: PendingWrite, failure: Failure, isRefused = false): Outcome {
  const error = inDoubtError(command, failure, isRefused)
  return { command, state: 'inDoubt', bins: NO_BINS, reason: 'unavailable', error }
}

export function notSent(entry: PendingWrite, cause: unknown): Outcome {
  if (entry.isInDoubt) return doubtful(entry, { code: CODE.TIMEOUT })
  const { command } = entry
  return { command, state: 'notWritten', bins: NO_BINS, reason: 'notSent', error: notSentError(command, cause) }
}
