import { CommitInDoubtError, SkeinError } from '../errors/index.js'
import type { ClientError } from './aerospike-client.js'
import { MOST_WRITES } from './capabilities.js'
import { failureOf } from './command-errors.js'
import type { CommitOutcome } from './outcome.js'

/**
 * Once in doubt, only a commit decides: when the time of a transaction is up, the server ends it as the lost decision said, and to a
 * repeated commit answers no more than that it is over.
 */
export function notCommitted(error: ClientError | undefined, wasInDoubt: boolean, isOver: boolean): CommitOutcome {
  const failure = error === undefined ? undefined : failureOf(error)
  if (error !== undefined) error.command = 'commit'
  if (wasInDoubt) {
    const inDoubt = new CommitInDoubtError('The commit was sent, but no answer came before the deadline.', {
      cause: error,
      fix: 'Load the entities again to see whether it took effect.',
    })
    return { state: 'inDoubt', error: inDoubt, isAbandoned: true }
  }
  return {
    state: 'aborted',
    isAbandoned: !isOver || /rollback abandoned/i.test(error?.message ?? ''),
    error: new SkeinError(
      'SKEIN_4305',
      `The transaction was not committed (code ${failure?.code}): a record it read was changed meanwhile, or it took too long.`,
      {
        cause: error,
        fix: 'Repeat the whole transaction; db.transaction does so by itself.',
      },
    ),
  }
}

export function noRoom(limit: number, milliseconds: number): SkeinError {
  return new SkeinError(
    'SKEIN_4306',
    `The transaction did not begin: ${limit} transactions are open, and none has ended within ${milliseconds} ms.`,
    {
      fix: 'Do not await db.transaction inside another one, do less at a time, or raise limits.transactions.',
    },
  )
}

export function tooManyWrites(count: number): SkeinError {
  return new SkeinError(
    'SKEIN_4302',
    `A transaction can write ${MOST_WRITES} records, but this one would write ${count}.`,
    {
      fix: 'Split the work into several transactions.',
    },
  )
}

export function otherNamespace(first: string, second: string): SkeinError {
  return new SkeinError(
    'SKEIN_4303',
    `A transaction works in one namespace, but this one would use '${first}' and '${second}'.`,
    {
      namespace: second,
      fix: "Keep records that change together in one namespace, or use transactions: 'off'.",
    },
  )
}
