import { SkeinError } from '../errors/index.js'
import type { Outcome } from './outcome.js'
import { showKey } from './record-key.js'

/** Error for a contributor that threw while being settled: the record is stored, but the entity does not show it. */
export function settleFailure({ command, state }: Outcome, cause: unknown): SkeinError {
  const { entity: className, key } = command
  const fate = state === 'written' ? 'was written' : 'was not written, or it is not known'
  const why = cause instanceof Error ? cause.message : String(cause)
  return new SkeinError(
    'SKEIN_2204',
    `${className} ${showKey(key)} ${fate}, but the entity does not show that: ${why}.`,
    {
      className,
      namespace: key.namespace,
      set: key.set,
      key: key.key,
      cause,
      fix: 'Do not freeze entities or make their properties read-only; load it in another session to go on.',
    },
  )
}
