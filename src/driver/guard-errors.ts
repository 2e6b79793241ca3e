import { EntityGoneError, SkeinError, VersionConflictError, type ErrorOptions } from '../errors/index.js'
import type { Command, DeleteCommand, Guard, WriteCommand } from '../plan/command.js'
import type { Reason } from './outcome.js'

/** Error of a command whose conditions did not hold. The server does not say which of them. */
export function guardFailed(
  command: Command,
  subject: string,
  options: ErrorOptions,
  isGeneration: boolean,
): { readonly reason: Reason; readonly error: SkeinError } {
  if (isOfAnotherClass(command)) return { reason: 'guard', error: anotherClass(command, subject, options) }
  if (isBeingDeleted(command)) {
    const [state, fix] = isSoft(command)
      ? ['is deleted, or being deleted', 'Restore it, or finish a purge that was cut off by purging once more.']
      : ['is being deleted', 'Load it again; finish a delete that was cut off by deleting it once more.']
    return { reason: 'guard', error: new EntityGoneError(`${subject} ${state}.`, { ...options, fix }) }
  }
  if (immutableOf(command) !== undefined) return { reason: 'guard', error: otherValue(command, subject, options) }
  return { reason: isGeneration ? 'generation' : 'guard', error: conflict(command, subject, options) }
}

/** The record may have been deleted softly. */
const isSoft = (command: Command): boolean =>
  command.kind !== 'read' && command.guards.some((guard) => guard.kind === 'filter' && guard.ifRemoved !== undefined)

type FilterGuard = Extract<Guard, { readonly kind: 'filter' }>

/** Nothing but its class, or that it is gone, can have refused it. */
function isOfAnotherClass(command: Command): command is WriteCommand | DeleteCommand {
  if (command.kind === 'read' || command.generation !== undefined) return false
  const filters = command.guards.filter((guard): guard is FilterGuard => guard.kind === 'filter')
  if (filters.length < command.guards.length || !filters.some(({ isOfClass }) => isOfClass)) return false
  return filters.every(({ isOfClass, isGoneUnless }) => isOfClass ?? isGoneUnless)
}

function anotherClass({ guards }: WriteCommand | DeleteCommand, subject: string, options: ErrorOptions): SkeinError {
  const isClassAlone = guards.every((guard) => guard.kind === 'filter' && guard.isOfClass)
  if (isClassAlone) return storedAsAnother(subject, options)
  return new EntityGoneError(`${subject} is being deleted or was deleted, or is stored as another class of its set.`, {
    ...options,
    fix: 'Load it again to see what is stored.',
  })
}

export const storedAsAnother = (subject: string, options: ErrorOptions): SkeinError =>
  new SkeinError('SKEIN_3102', `${subject} is stored as another class of its set.`, {
    ...options,
    fix: 'Use its own class or a base class.',
  })

/** Nothing else can have refused it. */
function isBeingDeleted(command: Command): boolean {
  if (command.kind === 'read' || command.generation !== undefined || command.guards.length === 0) return false
  return command.guards.every((guard) => guard.kind === 'filter' && guard.isGoneUnless)
}

function conflict(command: Command, subject: string, options: ErrorOptions): VersionConflictError {
  const guard = command.kind === 'read' ? undefined : command.guards.find((one) => one.kind !== 'filter')
  return new VersionConflictError(`${subject} was changed by someone else meanwhile.`, {
    ...options,
    bin: guard?.bin,
    expected: guard?.expected ?? (command as WriteCommand).generation,
    fix: 'Refresh it and repeat the change.',
  })
}

/** Property whose stored value the command would not change. */
function immutableOf(command: Command): string | undefined {
  if (command.kind !== 'write') return undefined
  for (const guard of command.guards)
    if (guard.kind === 'filter' && guard.immutable !== undefined) return guard.immutable
  return undefined
}

function otherValue(command: Command, subject: string, options: ErrorOptions): SkeinError {
  const property = immutableOf(command)
  return new SkeinError(
    'SKEIN_2210',
    `${subject} is stored with another ${property}, or with another value that never changes.`,
    { ...options, property, fix: 'Nothing was written. Load it and change what may change.' },
  )
}
