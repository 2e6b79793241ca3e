import { EntityGoneError, SkeinError, VersionConflictError, type ErrorOptions } from '../errors/index.js'
import { describeKey } from '../keys/index.js'
import type { Command } from '../plan/command.js'
import type { ReadOperation, WriteOperation } from '../plan/operation.js'
import type { Path } from '../plan/path.js'
import type { MapKey } from '../plan/value.js'

const MOST_NAMED = 3

interface Inside {
  readonly bin: string
  /** Keys of the entry of its map, where it is one, and of the entries further in that must be there, too. */
  readonly keys?: readonly MapKey[]
  /** Place in its list, where that must be there. */
  readonly index?: number
  /** Changed without having been read. */
  readonly isUnread?: true
}

/** Places inside bins that a command changes and that must be there. */
function changesInside({ operations = [] }: Command): readonly Inside[] {
  // A part that was moved, and changed where it is now, is the same part.
  const moved = new Set(
    operations.flatMap((operation) => (operation.kind === 'mapMove' ? operation.moves.map(({ to }) => to) : [])),
  )
  return operations.flatMap((operation): Inside[] => {
    if (operation.kind === 'mapMove') return operation.moves.map(({ from }) => ({ bin: operation.bin, keys: [from] }))
    const index = indexOf(operation)
    const isFixed = index !== undefined && index < 0
    if (!('path' in operation) || operation.path === undefined || operation.path.length === 0)
      return isFixed && 'bin' in operation ? [{ bin: operation.bin, index, ...marks(operation) }] : []
    const [step] = operation.path
    if (step.in !== 'mapKey') return [{ bin: operation.bin }]
    const keys = keysThere(operation.path)
    // Nothing can be missing on a path that the change makes itself.
    if (moved.has(step.key) || (keys.length === 0 && !isFixed)) return []
    const last = isFixed ? { index } : {}
    return [{ bin: operation.bin, keys: isFixed ? keysOf(operation.path) : keys, ...last, ...marks(operation) }]
  })
}

const keysOf = (path: Path): readonly MapKey[] => path.flatMap((step) => (step.in === 'mapKey' ? [step.key] : []))

/** Keys of the path as far as the server does not make it. */
const keysThere = (path: Path): readonly MapKey[] =>
  keysOf(path.slice(0, 1 + path.findLastIndex((step) => step.in !== 'mapKey' || step.create !== true)))

/** Places inside bins at which a command increments; the server refuses to increment a value that is not a number. */
export function numbersInside({ operations = [] }: Command): readonly string[] {
  return operations.flatMap((operation): string[] => {
    if (operation.kind === 'changeByPath') return operation.adds ? [operation.bin] : []
    if (operation.kind !== 'mapIncrement' && operation.kind !== 'listIncrement') return []
    const last = operation.kind === 'mapIncrement' ? describeKey(operation.key) : String(operation.index)
    return [`${operation.bin}${shownPath(operation.path ?? [])}[${last}]`]
  })
}

/** Lists and maps in which a command increments by path, where nothing else in it can be missing: the server answers 26 for a value that is not a number. */
export function numbersByPath(command: Command): readonly string[] {
  const isByPath = command.operations?.some((operation) => operation.kind === 'changeByPath' && operation.adds) === true
  return isByPath && changesInside(command).length === 0 ? numbersInside(command) : []
}

/** Lists and maps inside bins that a command changes: one of them, or what leads there, is of another type. */
export function containersInside({ operations = [] }: Command): readonly string[] {
  return operations.flatMap((operation) => {
    const path = 'path' in operation ? (operation.path ?? []) : []
    return path.length === 0 || !('bin' in operation) ? [] : [`${operation.bin}${shownPath(path)}`]
  })
}

/** As `containersInside`, where nothing in the command can be missing: then the server answers 26 for a value on the way that is no map. */
export const containersMade = (command: Command): readonly string[] =>
  changesInside(command).length === 0 ? containersInside(command) : []

const shownPath = (path: Path): string =>
  path.map((step) => (step.in === 'mapKey' ? `[${describeKey(step.key)}]` : '')).join('')

const indexOf = (operation: ReadOperation | WriteOperation): number | undefined =>
  operation.kind === 'listSet' || operation.kind === 'listInsert' || operation.kind === 'listIncrement'
    ? operation.index
    : undefined

const marks = (operation: object): { readonly isUnread?: true } =>
  'isUnread' in operation && operation.isUnread === true ? { isUnread: true } : {}

/** The changed parts in words; the server does not say which of them is missing. */
function changedParts(command: Command): string {
  const named = namedParts(command)
  if (named === '') return 'a part that was changed is'
  return named.startsWith('one of') ? `${named}, which were changed here, is` : `${named}, which was changed here, is`
}

/** Names of what a command changes inside bins; `one of …` where there are several. */
const namedParts = (command: Command): string =>
  oneOfThese(
    changesInside(command).map(
      ({ bin, keys = [], index }) =>
        `${bin}${keys.map((key) => `[${describeKey(key)}]`).join('')}${index === undefined ? '' : `[${index}]`}`,
    ),
  )

export function oneOfThese(all: readonly string[]): string {
  const parts = [...new Set(all)]
  const more = parts.length > MOST_NAMED ? ` and ${parts.length - MOST_NAMED} more` : ''
  const named = `${parts.slice(0, MOST_NAMED).join(', ')}${more}`
  return parts.length > 1 ? `one of ${named}` : named
}

/** Says that the part is gone where it was read before; otherwise it may never have been there. */
export function partMissing(command: Command, subject: string, options: ErrorOptions): SkeinError {
  const inside = changesInside(command)
  const where = { ...options, bin: inside[0]?.bin }
  if (inside.length === 0 || inside.some(({ isUnread }) => isUnread !== true))
    return new VersionConflictError(`${subject}: ${changedParts(command)} no longer there (code 26).`, {
      ...where,
      fix: 'Nothing was written. Refresh the entity and repeat the change.',
    })
  if (inside.every(({ keys }) => keys === undefined))
    return new SkeinError(
      'SKEIN_3103',
      `${subject}: there is no ${namedParts(command)}, the list is shorter (code 26).`,
      {
        ...where,
        fix: 'Nothing was written. Ask for the size of the list first, or give an index of at least 0.',
      },
    )
  return new EntityGoneError(`${subject}: ${namedParts(command)} does not exist (code 26).`, {
    ...where,
    fix: 'Nothing was written. Add or put it first.',
  })
}
