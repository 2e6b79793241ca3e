import { SkeinError, type ErrorOptions } from '../errors/index.js'
import type { ClientError } from './aerospike-client.js'
import { failureOf } from './command-errors.js'
import { CODE, isNoAnswer, isPermission } from './status.js'

/** The error of a command that concerns the whole cluster: indexes, truncation. `what`: a sentence that says what did not happen, without its end. */
export function infoError(what: string, error: ClientError, options: ErrorOptions = {}): SkeinError {
  error.command = 'info'
  const { code } = failureOf(error)
  const failed = (...[kind, why, fix]: readonly [ConstructorParameters<typeof SkeinError>[0], string, string]) =>
    new SkeinError(kind, `${what}${why}`, { ...options, cause: error, fix })
  if (isPermission(code)) return failed('SKEIN_4207', ` (code ${code}).`, 'Grant the user the role it needs.')
  if (code === CODE.TIMEOUT)
    return failed('SKEIN_4201', ': the server did not answer in time.', 'Try again, or raise policies.info.timeout.')
  if (isNoAnswer(code))
    return failed(
      'SKEIN_4205',
      `: no node could be reached (code ${code}).`,
      'Try again when the server can be reached.',
    )
  return failed(
    'SKEIN_4204',
    ` (code ${code}: ${error.message}).`,
    'The code is explained in docs/reference/errors.md.',
  )
}

/** The answer without the question, which the server repeats in front of a tab. The client answers with nothing where it has no node to ask. */
export function infoText(answer: string | null): string {
  if (answer !== null) return answer.slice(answer.indexOf('\t') + 1).trim()
  throw Object.assign(new Error('Not connected.'), { code: CODE.NO_NODE })
}
