import { bug } from '../errors/index.js'
import type { Command, DeleteCommand, Guard, WriteCommand } from './command.js'
import type { Expression } from './expression.js'
import type { Operation } from './operation.js'

/**
 * Ways to resolve a write whose answer was lost:
 * `repeat` it, because twice is the same as once;
 * `readBack`, because its guard keeps it from happening twice and the stored record shows whether it happened;
 * `report` it, because a repeat could apply it twice or return the wrong results.
 */
type AfterDoubt = 'repeat' | 'readBack' | 'report'

export function afterDoubt(command: WriteCommand | DeleteCommand): AfterDoubt {
  if (command.operations.some((operation) => operation.kind === 'rawWrite' && !operation.isIdempotent)) return 'report'
  if (happensAtMostOnce(command)) return 'readBack'
  if (command.kind === 'delete') return command.operations.length === 0 ? 'repeat' : 'report'
  if (command.operations.some(accumulates) || returnsWhatItChanges(command.operations)) return 'report'
  return 'repeat'
}

/** True when the command itself makes its own condition false. */
function happensAtMostOnce(command: WriteCommand | DeleteCommand): boolean {
  if (command.generation !== undefined) return true
  if (command.kind === 'delete') return false
  return command.exists === 'mustNotExist' || command.guards.some((guard) => isBrokenBy(guard, command.operations))
}

function isBrokenBy(guard: Guard, operations: readonly Operation[]): boolean {
  if (guard.kind === 'filter') return false
  return operations.some((operation) => {
    if (!('bin' in operation) || operation.bin !== guard.bin) return false
    if (operation.kind === 'addToBin') return true
    if (operation.kind === 'removeBin') return guard.expected !== null
    return operation.kind === 'writeBin' && operation.value !== guard.expected
  })
}

/** True for operations whose effect depends on how often they run. */
export function accumulates(operation: Operation): boolean {
  switch (operation.kind) {
    case 'addToBin':
      return operation.countsWrites !== true
    case 'mapIncrement':
    case 'listAppend':
    case 'listIncrement':
    case 'listRemoveIndexRange':
    case 'listRemoveRankRange':
      return true
    case 'rawWrite':
      return !operation.isIdempotent
    case 'changeByPath':
      return operation.adds
    case 'listInsert':
      return !operation.unique
    default:
      return 'returns' in operation && isWrite(operation) && operation.returns !== 'none'
  }
}

/** Bins that the command increments. */
export function binsAddedTo({ operations }: WriteCommand | DeleteCommand): Set<string> {
  return new Set(
    operations.flatMap((operation) => (accumulates(operation) && 'bin' in operation ? [operation.bin] : [])),
  )
}

/** Bins that the command sets rather than increments: writing them again does no harm. */
export function binsReplaced(command: WriteCommand | DeleteCommand): Set<string> {
  const added = binsAddedTo(command)
  const changed = command.operations.flatMap((operation) =>
    isWrite(operation) && 'bin' in operation ? [operation.bin] : [],
  )
  return new Set(changed.filter((bin) => !added.has(bin)))
}

/**
 * True when the command adds to what others may have added to as well: what is stored then never shows whose share it is. What it counts
 * under its own condition, such as the version, is no such thing, and a creation has nothing to add to.
 */
export function addsToOthers(command: WriteCommand | DeleteCommand): boolean {
  if (command.kind === 'delete' || command.exists === 'mustNotExist') return false
  const guarded = command.guards.map((guard) => (guard.kind === 'filter' ? undefined : guard.bin))
  return command.operations.some(
    (operation) => accumulates(operation) && !('bin' in operation && guarded.includes(operation.bin)),
  )
}

function returnsWhatItChanges(operations: readonly Operation[]): boolean {
  const changed = new Set(
    operations.filter(isWrite).flatMap((operation) => ('bin' in operation ? [operation.bin] : [])),
  )
  return operations.some((operation) => !isWrite(operation) && binsRead(operation).some((bin) => changed.has(bin)))
}

const READS: ReadonlySet<Operation['kind']> = new Set<Operation['kind']>([
  'readBin',
  'readExpression',
  'rawRead',
  'listSize',
  'listGetIndexRange',
  'listGetValues',
  'mapSize',
  'mapGetKeys',
  'mapGetKeyRange',
  'mapGetIndexRange',
])

export function isWrite(operation: Operation): boolean {
  return !READS.has(operation.kind)
}

function binsRead(operation: Operation): readonly string[] {
  if (operation.kind === 'readExpression') return binsOf(operation.expression)
  return 'bin' in operation ? [operation.bin] : []
}

function binsOf(expression: Expression): readonly string[] {
  if (expression.kind === 'bin') return [expression.name]
  if (expression.kind === 'value') return []
  if (expression.kind === 'loopVariable' || expression.kind === 'takenOut') return []
  if (expression.kind === 'collection' || expression.kind === 'path') return binsOf(expression.subject)
  if (expression.name === 'binExists') {
    return expression.args.flatMap((arg) => (arg.kind === 'value' && typeof arg.value === 'string' ? [arg.value] : []))
  }
  return expression.args.flatMap(binsOf)
}

/**
 * The client returns one result per name, the last one; in a batch a write hides an earlier read of its bin.
 * So a command whose results would hide one another is refused before it is sent.
 */
export function checkResultNames(command: Command): void {
  const operations = command.operations
  if (operations === undefined || operations.length < 2) return
  const wanted = new Set<string>()
  for (const operation of operations) if (!isRaw(operation) && hasResult(operation)) wanted.add(resultName(operation)!)
  if (wanted.size === 0) return
  const seen = new Set<string>()
  for (const operation of operations) {
    const name = resultName(operation)
    if (name === undefined || !wanted.has(name)) continue
    if (seen.has(name)) {
      throw bug(`two operations on '${name}' of ${command.entity} in one command, but only one result can come back`, {
        className: command.entity,
        bin: name,
        fix: 'Read it by an expression under a name of its own.',
      })
    }
    seen.add(name)
  }
}

/** Operations of the official client may hide each other's results, as they do there. */
export const isRaw = ({ kind }: Operation): boolean => kind === 'rawRead' || kind === 'rawWrite'

export function hasResult(operation: Operation): boolean {
  return isRaw(operation) || !isWrite(operation) || ('returns' in operation && operation.returns !== 'none')
}

export function resultName(operation: Operation): string | undefined {
  if (operation.kind === 'readExpression') return operation.name
  return 'bin' in operation ? operation.bin : undefined
}
