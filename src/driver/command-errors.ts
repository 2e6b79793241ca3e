import {
  AlreadyExistsError,
  EntityGoneError,
  InDoubtError,
  RecordTooLargeError,
  SkeinError,
  type ErrorCode,
  type ErrorOptions,
} from '../errors/index.js'
import type { Command } from '../plan/command.js'
import { showKey } from '../plan/record-key.js'
import { REVEAL_NOTHING, showCommand } from '../plan/show-command.js'
import type { ClientError } from './aerospike-client.js'
import { guardFailed } from './guard-errors.js'
import {
  containersInside,
  containersMade,
  numbersByPath,
  numbersInside,
  oneOfThese,
  partMissing,
} from './changed-parts.js'
import type { Reason } from './outcome.js'
import { CODE, isBusy, isNoAnswer, isPermission, isTransactionConflict, isWithoutRoom } from './status.js'

/** Reason why a command failed: the server's or client's code, and the client's error where there is one (rows of a batch have none). */
export interface Failure {
  readonly code: number
  readonly error?: ClientError
}

/** Calls that the client refuses because it knows no node; the code is that of a failed client or server. */
export const isWithoutNodes = ({ message }: ClientError): boolean =>
  /^Not connected\.|cluster is empty|Failed to find server node/i.test(message)

/** Code of the client's error; a plain TypeError of the binding counts as a bad parameter. */
export function failureOf(error: ClientError): Failure {
  if (typeof error.code !== 'number') return { code: CODE.PARAM, error }
  return { code: isWithoutNodes(error) ? CODE.NO_NODE : error.code, error }
}

interface ReasonedError {
  readonly reason: Reason
  readonly error: SkeinError
}

/** The failure as an error people can act on, and as a word that code can branch on. */
export function explainFailure(command: Command, failure: Failure, inTransaction = false): ReasonedError {
  const { code } = failure
  const options = details(command, failure)
  const subject = `${command.entity} ${showKey(command.key)}`
  const failed = (reason: Reason, errorCode: ErrorCode, message: string, fix: string): ReasonedError => ({
    reason,
    error: new SkeinError(errorCode, `${subject}: ${message}`, { ...options, fix }),
  })
  if (inTransaction && isTransactionConflict(code)) {
    return failed(
      'conflict',
      'SKEIN_4305',
      `the transaction was in conflict with another one, or has expired (code ${code}).`,
      'Repeat the whole transaction; db.transaction does so by itself.',
    )
  }
  switch (code) {
    case CODE.NOT_FOUND:
      return {
        reason: 'missing',
        error: new EntityGoneError(`${subject} is not stored, or no longer stored.`, {
          ...options,
          fix: 'Load it again, or save it as a new entity; a handle makes a missing record with { create: true }.',
        }),
      }
    case CODE.EXISTS:
      return {
        reason: 'exists',
        error: new AlreadyExistsError(`${subject} is already stored.`, {
          ...options,
          fix: 'Load and change it, or use upsert to overwrite it.',
        }),
      }
    case CODE.FILTERED_OUT:
    case CODE.GENERATION:
      return guardFailed(command, subject, options, code === CODE.GENERATION)
    case CODE.TOO_BIG:
      return {
        reason: 'tooLarge',
        error: new RecordTooLargeError(`${subject} would become larger than the server allows.`, {
          ...options,
          fix: 'Store a large collection with the secondaryIndex strategy, or in several records, or raise max-record-size of the namespace.',
        }),
      }
    case CODE.NOT_APPLICABLE:
      if (numbersByPath(command).length > 0) return failed(...notANumber(numbersByPath(command), code))
      if (containersMade(command).length > 0) return failed(...notAContainer(containersMade(command), code))
      return { reason: 'partMissing', error: partMissing(command, subject, options) }
    case CODE.WRONG_TYPE:
      if (containersInside(command).length > 0) return failed(...notAContainer(containersInside(command), code))
      return failed(
        'refused',
        'SKEIN_4210',
        'a stored bin has another type than the model says (code 12).',
        'Compare the class with the stored record; another program may have written it.',
      )
    case CODE.TXN_BLOCKED:
      return failed(
        'unavailable',
        'SKEIN_4203',
        'a transaction holds the record.',
        'Try again when that transaction has ended.',
      )
    case CODE.PARTITION_UNAVAILABLE:
      return failed(
        'unavailable',
        'SKEIN_4213',
        'no node serves its partition at the moment (code 11): partitions move after a node has come or gone.',
        'Try again when the cluster has settled; if it lasts, look at the nodes and at the dead partitions of the namespace.',
      )
    case CODE.FORBIDDEN:
      return forbidden(command, failed)
    case CODE.ENTERPRISE_ONLY:
      if (command.kind === 'delete' && !inTransaction) return withoutTombstones(failed)
      return failed(
        'refused',
        'SKEIN_4301',
        'the server has no transactions or durable deletes (code 25).',
        'Use an enterprise cluster with a strongly consistent namespace, or transactions: "off".',
      )
    case CODE.TXN_TOO_MANY_WRITES:
      return failed(
        'refused',
        'SKEIN_4302',
        'the transaction writes more records than the server allows (code 123).',
        'Split the work into several transactions.',
      )
  }
  if (isPermission(code))
    return failed(
      'refused',
      'SKEIN_4207',
      `the user lacks the permission (code ${code}).`,
      'Grant the user the role it needs.',
    )
  if (isBusy(code))
    return failed(
      'unavailable',
      'SKEIN_4202',
      `the server is overloaded (code ${code}).`,
      'Try again later, or spread the load over more records.',
    )
  if (isWithoutRoom(code))
    return failed(
      'unavailable',
      'SKEIN_4212',
      `the client has no connection left for the command (code ${code}).`,
      'Raise maxConnsPerNode, or do less at a time on db.client.',
    )
  if (code === CODE.TIMEOUT)
    return failed(
      'unavailable',
      'SKEIN_4201',
      'the server did not answer in time.',
      'Try again; if it persists, look at the load of the server or raise policies.*.totalTimeout.',
    )
  if (isNoAnswer(code))
    return failed(
      'unavailable',
      'SKEIN_4205',
      `the connection to the server was lost (code ${code}).`,
      'Try again when the server can be reached.',
    )
  const numbers = code === CODE.INVALID ? numbersInside(command) : []
  if (numbers.length > 0) return failed(...notANumber(numbers, code))
  return failed(
    'refused',
    'SKEIN_4204',
    `the server refused the command (code ${code}${failure.error === undefined ? '' : `: ${failure.error.message}`}).`,
    'The code is explained in docs/reference/errors.md.',
  )
}

const notANumber = (places: readonly string[], code: number): readonly [Reason, ErrorCode, string, string] => [
  'refused',
  'SKEIN_4210',
  `${oneOfThese(places)} holds no number that could be added to (code ${code}).`,
  'Nothing was written. Put a number there, or remove the entry: a missing one counts as 0.',
]

const notAContainer = (places: readonly string[], code: number): readonly [Reason, ErrorCode, string, string] => [
  'refused',
  'SKEIN_4210',
  `${oneOfThese(places)}, or a value on the way there, is null or of another type than the change needs (code ${code}).`,
  'Nothing was written. Put an object, map or list there first, or compare the class with the stored record.',
]

/** A write of which nobody can tell whether it took effect. */
/** `isRefused`: the failure is that of a later try, which had an answer. */
export function inDoubtError(command: Command, failure: Failure, isRefused = false): InDoubtError {
  const problem = isRefused
    ? `an answer was lost, and the server refused the repeated command (code ${failure.code}): the first`
    : `the answer was lost (code ${failure.code}), and the write`
  return new InDoubtError(`${command.entity} ${showKey(command.key)}: ${problem} may or may not have taken effect.`, {
    ...details(command, failure),
    fix: 'Refresh the entity to see what is stored.',
  })
}

export function notSentError(command: Command, cause: unknown): SkeinError {
  return new SkeinError(
    'SKEIN_4209',
    `${command.entity} ${showKey(command.key)}: the command was not sent, because the call was aborted.`,
    {
      ...details(command, { code: 0 }),
      cause,
      fix: 'Flush again to send it.',
    },
  )
}

function details(command: Command, failure: Failure): ErrorOptions {
  const { namespace, set, key } = command.key
  return { className: command.entity, namespace, set, key, cause: redact(command, failure) }
}

// The client's error holds the whole call with its values, and through it the configuration with its password.
function redact(command: Command, { error }: Failure): unknown {
  if (error !== undefined && error.command !== undefined) error.command = showCommand(command, REVEAL_NOTHING)
  return error
}

type Failed = (reason: Reason, code: ErrorCode, message: string, fix: string) => ReasonedError

function withoutTombstones(failed: Failed): ReasonedError {
  return failed(
    'refused',
    'SKEIN_4204',
    'the server has no durable deletes (code 25).',
    'Leave durableDelete out of @Record and of the policies, or use an enterprise server.',
  )
}

function forbidden(command: Command, failed: Failed): ReasonedError {
  if (command.kind === 'delete' && command.durableDelete === false) {
    return failed(
      'refused',
      'SKEIN_4204',
      'the class says durableDelete: false, but the namespace refuses deletes that are not durable (code 22).',
      'Leave durableDelete out of @Record: deletes are then durable where the namespace requires it.',
    )
  }
  if (command.kind === 'write' && typeof command.ttl === 'number') {
    return failed(
      'refused',
      'SKEIN_4208',
      'it has a time to live, but the namespace does not expire records (code 22).',
      'Set nsup-period of the namespace above 0, or save without a TTL.',
    )
  }
  return failed(
    'refused',
    'SKEIN_4204',
    'the server forbids this (code 22).',
    'The namespace may require durable deletes, or be truncating or full.',
  )
}
