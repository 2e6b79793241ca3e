import { SkeinError, type ErrorCode } from '../errors/index.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { ClientError } from './aerospike-client.js'
import { failureOf } from './command-errors.js'
import { CODE, isBusy, isNoAnswer, isPermission, isWithoutRoom } from './status.js'

/** The error of a query, in the words of the model. */
export function queryError(command: QueryCommand, error: ClientError, percent?: number): SkeinError {
  const { entity, namespace, set, index } = command
  // The client's error holds the whole call with its values.
  error.command = 'query'
  const subject = index === undefined ? `The set '${set}' of ${entity}` : `Index '${index.name}' of ${entity}`
  const failed = (code: ErrorCode, message: string, fix: string): SkeinError =>
    new SkeinError(code, `${subject} ${message}`, {
      className: entity,
      namespace,
      set,
      bin: index?.bin,
      cause: error,
      fix,
    })
  const { code } = failureOf(error)
  if (code === CODE.INDEX_NOT_FOUND)
    return failed('SKEIN_4211', 'does not exist on the server.', 'Create it: await db.indexes.sync().')
  if (code === CODE.INDEX_NOT_READABLE)
    return failed(
      'SKEIN_4211',
      `is still being built${percent === undefined ? '' : ` (${percent} %)`}.`,
      'Wait until it is ready, with progress: await db.indexes.sync({ onProgress }).',
    )
  if (code === CODE.PARTITION_UNAVAILABLE)
    return failed(
      'SKEIN_4213',
      'could not be queried: no node serves some of its partitions at the moment (code 11).',
      'Try again when the cluster has settled; if it lasts, look at the nodes and at the dead partitions of the namespace.',
    )
  if (isPermission(code))
    return failed('SKEIN_4207', `may not be queried by this user (code ${code}).`, 'Grant the user the role it needs.')
  if (isBusy(code))
    return failed('SKEIN_4202', `could not be queried: the server is overloaded (code ${code}).`, 'Try again later.')
  if (isWithoutRoom(code))
    return failed(
      'SKEIN_4212',
      `could not be queried: the client has no connection left (code ${code}).`,
      'Raise maxConnsPerNode.',
    )
  if (code === CODE.TIMEOUT)
    return failed('SKEIN_4201', 'was not answered in time.', 'Try again, or raise policies.query.socketTimeout.')
  if (isNoAnswer(code))
    return failed('SKEIN_4205', `could not be queried: the connection was lost (code ${code}).`, 'Try again later.')
  return failed(
    'SKEIN_4204',
    `could not be queried (code ${code}: ${error.message}).`,
    'The code is explained in docs/reference/errors.md.',
  )
}
