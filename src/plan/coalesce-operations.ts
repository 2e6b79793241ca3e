import type { Operation, Path } from './operation.js'
import { listAppendUnique, listRemoveValues, mapPutItems, mapRemoveKeys } from './operations.js'
import type { MapKey, Value } from './value.js'

/** Joins neighbours that say the same thing about one bin: a later write of a bin wins, appends and removes add up. */
export function coalesce(operations: readonly Operation[]): readonly Operation[] {
  const result: Operation[] = []
  for (const operation of operations) {
    const last = findSameTarget(result, operation)
    const joined = last < 0 ? undefined : join(result[last], operation)
    if (joined === undefined) result.push(operation)
    else result[last] = joined
  }
  return result
}

// Only the latest operation on the same bin may be joined: whatever stands between two of them could depend on the order.
function findSameTarget(operations: readonly Operation[], operation: Operation): number {
  if (!('bin' in operation)) return -1
  for (let i = operations.length - 1; i >= 0; i--) {
    const other = operations[i]
    if (other.kind === 'readExpression' || other.kind === 'deleteRecord') return -1
    if ('bin' in other && other.bin === operation.bin) return i
  }
  return -1
}

function join(a: Operation, b: Operation): Operation | undefined {
  if ((a.kind === 'writeBin' || a.kind === 'removeBin') && (b.kind === 'writeBin' || b.kind === 'removeBin')) return b
  if (a.kind === 'listAppendUnique' && b.kind === 'listAppendUnique' && samePath(a.path, b.path)) {
    return listAppendUnique(a.bin, [...a.values, ...b.values], a.path)
  }
  if (
    a.kind === 'listRemoveValues' &&
    b.kind === 'listRemoveValues' &&
    samePath(a.path, b.path) &&
    a.returns === b.returns
  ) {
    return listRemoveValues(a.bin, [...a.values, ...b.values], a.returns, a.path)
  }
  if (a.kind === 'mapRemoveKeys' && b.kind === 'mapRemoveKeys' && samePath(a.path, b.path) && a.returns === b.returns) {
    return mapRemoveKeys(a.bin, [...a.keys, ...b.keys], a.returns, a.path)
  }
  if ((a.kind === 'mapPut' || a.kind === 'mapPutItems') && (b.kind === 'mapPut' || b.kind === 'mapPutItems')) {
    if (samePath(a.path, b.path)) return mapPutItems(a.bin, new Map([...entries(a), ...entries(b)]), a.path)
  }
  return undefined
}

type Put = Extract<Operation, { kind: 'mapPut' | 'mapPutItems' }>

function entries(put: Put): Iterable<[MapKey, Value]> {
  return put.kind === 'mapPut' ? [[put.key, put.value]] : put.items
}

function samePath(a: Path = [], b: Path = []): boolean {
  return a.length === b.length && a.every((step, i) => sameStep(step, b[i]))
}

function sameStep(a: Path[number], b: Path[number]): boolean {
  if (a === b) return true
  if (a.in === 'mapKey' && b.in === 'mapKey') return a.key === b.key && a.create === b.create
  if (a.in === 'listIndex' && b.in === 'listIndex') return a.index === b.index
  return false
}
