import type { DeleteCommand, WriteCommand } from '../plan/command.js'
import type { Operation, Path } from '../plan/operation.js'
import { addsToOthers } from '../plan/effects.js'
import { sameValue } from '../plan/same-value.js'
import type { StoredRecord } from './outcome.js'

/**
 * Verdict of the stored record on a guarded write whose answer was lost: it was `applied`; the record is `asWanted`, but whoever
 * made the same change would have left it so; it was `notApplied` and may be sent again; it `lost` against another writer, who may have moved
 * what it changes to another record; or it is `unknown`, because someone changed the record since, or because it adds to what others add to.
 */
type Verdict = 'applied' | 'asWanted' | 'notApplied' | 'lost' | 'unknown'

/** The bins that must be read back to judge the command. */
export function binsToJudge(command: WriteCommand | DeleteCommand): string[] {
  const changed = command.operations.flatMap((operation) => ('bin' in operation ? [operation.bin] : []))
  const guarded = command.guards.flatMap((guard) => (guard.kind === 'filter' ? [] : [guard.bin]))
  return [...new Set([...changed, ...guarded])]
}

export function judge(command: WriteCommand | DeleteCommand, found: StoredRecord | null): Verdict {
  if (found === null) return judgeAbsent(command)
  if (isElsewhere(command, found)) return 'lost'
  if (guardStillHolds(command, found)) return 'notApplied'
  if (command.kind === 'delete') return 'unknown'
  const signs = signsOf(command, found)
  if (signs.includes(false)) return someoneElseWon(command, found) ? 'lost' : 'unknown'
  if (!signs.includes(true) || addsToOthers(command)) return 'unknown'
  return isForOneAlone(command) ? 'asWanted' : 'applied'
}

/** Tells whether the record holds what the command would have left in it, as far as that can be seen. */
export function isAsWritten(command: WriteCommand, found: StoredRecord): boolean {
  const signs = signsOf(command, found)
  return signs.includes(true) && !signs.includes(false)
}

const signsOf = (command: WriteCommand, found: StoredRecord): (boolean | undefined)[] =>
  command.operations.map((operation) => hasHappened(operation, command, found))

/** Only one of all who try may succeed, and each relies on being told: equal values do not show who it was, a key made for it does. */
function isForOneAlone({ exists, guards, key }: WriteCommand): boolean {
  if (exists === 'mustNotExist') return key.isMade !== true
  return guards.some(({ kind }) => kind === 'version')
}

function judgeAbsent(command: WriteCommand | DeleteCommand): Verdict {
  if (command.kind === 'delete') return 'applied'
  return command.exists === 'mustNotExist' ? 'notApplied' : 'unknown'
}

function guardStillHolds(command: WriteCommand | DeleteCommand, found: StoredRecord): boolean {
  if (command.generation !== undefined && command.generation === found.generation) return true
  return command.guards.some((guard) => guard.kind !== 'filter' && equals(guard.expected, found.bins[guard.bin]))
}

/** Members that the command is about are in another record: what this one holds says nothing about them. */
function isElsewhere({ guards }: WriteCommand | DeleteCommand, { bins }: StoredRecord): boolean {
  return guards.some(
    (guard) => guard.kind === 'binEquals' && guard.isOfHome === true && !equals(guard.expected, bins[guard.bin]),
  )
}

function equals(expected: null | number | bigint | string | Uint8Array, stored: unknown): boolean {
  return expected === null ? stored === undefined || stored === null : sameValue(expected, stored)
}

/** The version moved by exactly this command's step, but not with this command's values. */
function someoneElseWon(command: WriteCommand, found: StoredRecord): boolean {
  return command.guards.some((guard) => guard.kind === 'version' && found.bins[guard.bin] === (guard.expected ?? 0) + 1)
}

/** Undefined where the stored record cannot tell. */
function hasHappened(operation: Operation, command: WriteCommand, found: StoredRecord): boolean | undefined {
  if (!('bin' in operation)) return undefined
  const stored = valueAt(found.bins[operation.bin], 'path' in operation ? operation.path : undefined)
  switch (operation.kind) {
    case 'writeBin':
      return sameValue(operation.value, stored)
    case 'removeBin':
      return stored === undefined || stored === null
    case 'addToBin':
      return sumHasHappened(operation, command, stored)
    case 'listAppendUnique':
    case 'listAppend':
      return isList(stored) && operation.values.every((value) => stored.some((item) => sameValue(value, item)))
    case 'listRemoveValues':
      return !isList(stored) || !operation.values.some((value) => stored.some((item) => sameValue(value, item)))
    case 'mapPut':
      return sameValue(operation.value, entry(stored, operation.key))
    case 'mapPutItems':
      return [...operation.items].every(([key, value]) => sameValue(value, entry(stored, key)))
    case 'mapPutMissing':
      return entry(stored, operation.key) !== undefined
    case 'mapRemoveKeys':
      return operation.keys.every((key) => entry(stored, key) === undefined)
    default:
      return undefined
  }
}

// A sum shows only where the old value is known: from the guard, or because the command created the record.
function sumHasHappened(
  operation: Extract<Operation, { kind: 'addToBin' }>,
  command: WriteCommand,
  stored: unknown,
): boolean | undefined {
  const guard = command.guards.find((one) => one.kind !== 'filter' && one.bin === operation.bin)
  const before =
    guard !== undefined && 'expected' in guard
      ? (guard.expected ?? 0)
      : command.exists === 'mustNotExist'
        ? 0
        : undefined
  if (typeof before !== 'number' || typeof operation.delta !== 'number') return undefined
  return stored === before + operation.delta
}

function valueAt(value: unknown, path: Path | undefined): unknown {
  let at = value
  for (const step of path ?? []) {
    if (step.in === 'mapKey') at = entry(at, step.key)
    else if (step.in === 'listIndex' && isList(at)) at = at.at(step.index)
    else return undefined
  }
  return at
}

function entry(map: unknown, key: unknown): unknown {
  if (typeof map !== 'object' || map === null) return undefined
  // Only a map with bytes as keys is read as a Map.
  if (map instanceof Map) {
    const isKey = (each: unknown): boolean =>
      each instanceof Uint8Array && Buffer.compare(each, key as Uint8Array) === 0
    return key instanceof Uint8Array ? [...map].find(([each]) => isKey(each))?.[1] : undefined
  }
  return (map as Record<string, unknown>)[key instanceof Uint8Array ? Buffer.from(key).toString('latin1') : String(key)]
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}
