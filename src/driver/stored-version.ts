import { VersionConflictError } from '../errors/index.js'
import { onlyIf, read } from '../plan/command.js'
import { showKey } from '../plan/record-key.js'
import { showValue } from '../plan/show-value.js'
import { storedAsAnother } from './guard-errors.js'
import type { Outcome } from './outcome.js'
import type { Reader } from './reader.js'

/** True where the record is certainly not of the class that the command asks for. */
async function isOfAnotherClass({ entity, key, guards }: Outcome['command'], reader: Reader): Promise<boolean> {
  const guard = guards.find((one) => one.kind === 'filter' && one.isOfClass)
  if (guard?.kind !== 'filter') return false
  const own = await reader.readOnce(onlyIf(read(entity, key, 'none'), guard.expression)).catch(() => undefined)
  return own === null
}

/** A refused guard tells nothing about the record, so the guarded bin is read once for the error. */
export async function addStoredVersion(outcome: Outcome, reader: Reader): Promise<Outcome> {
  const { command, error } = outcome
  const guard = command.guards.find((one) => one.kind !== 'filter')
  if (guard === undefined || (guard.kind === 'binEquals' && guard.isOfHome === true)) return outcome
  const found = await reader.readOnce(read(command.entity, command.key, [guard.bin])).catch(() => undefined)
  if (found === undefined) return outcome
  if (found !== null && (await isOfAnotherClass(command, reader)))
    return { ...outcome, error: storedAsAnother(`${command.entity} ${showKey(command.key)}`, error?.details ?? {}) }
  const stored = found === null ? null : (found.bins[guard.bin] ?? null)
  // A value is data: only versions are named in the message.
  const numbers = guard.kind === 'version' ? ` (expected version ${guard.expected}, stored ${showValue(stored)})` : ''
  return {
    ...outcome,
    error: new VersionConflictError(
      `${command.entity} ${showKey(command.key)} was changed by someone else meanwhile${numbers}.`,
      { ...error?.details, cause: error?.cause, expected: guard.expected, stored },
    ),
  }
}
