import { InDoubtError, SkeinError } from '../errors/index.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { ClientError } from './aerospike-client.js'
import { failureOf } from './command-errors.js'

/** A background operation, as its errors tell of it. */
interface Subject {
  readonly command: QueryCommand
  /** True where doing it twice changes nothing. */
  readonly isRepeatable: boolean
}

/** Nobody can tell which records are changed. */
export function inDoubt(work: Subject, why: string, error?: ClientError): InDoubtError {
  const { entity, namespace, set } = work.command
  // The client's error holds the whole call with its values.
  if (error !== undefined) error.command = 'query'
  const code = error === undefined ? '' : ` (code ${failureOf(error).code})`
  return new InDoubtError(
    `The bulk operation on ${entity} may have been carried out completely, in part or not at all: ${why}${code}.`,
    { className: entity, namespace, set, cause: error, fix: afterSome(work) },
  )
}

export function givenUp(work: Subject, status: string): SkeinError {
  const { entity, namespace, set } = work.command
  return new SkeinError('SKEIN_4204', `The server gave up changing the records of ${entity} (${status}).`, {
    className: entity,
    namespace,
    set,
    fix: `Some records may have been changed. ${afterSome(work)}`,
  })
}

/** Advice where some records may be changed. */
const afterSome = ({ isRepeatable }: Subject): string =>
  isRepeatable
    ? 'Call it again: that changes nothing where it is already done.'
    : 'Do not simply call it again: inc would be added twice where it is already done. Look at the records first, or write the update so that changed records no longer match its condition, and it can be repeated (see "Change or delete all that is found" in docs/guide/queries.md).'
