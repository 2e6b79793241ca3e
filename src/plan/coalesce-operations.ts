import type { Operation, Path } from './operation.js'
import { listAppendUnique, listRemoveValues, mapPutItems, mapRemoveKeys } from './operations.js'
import type { MapKey, Value } from './value.js'

/** Joins neighbours that say the same thing about one bin: a later write of a bin wins, appends and removes add up. */
export function coalesce(operations: readonly Operation[]): readonly Operation[] {
  // All that belong together are gathered first and joined once: joining two at a time copies the values of all before.
  const result: Operation[][] = []
  for (const operation of operations) {
    const last = findSameTarget(result, operation)
    if (last < 0 || !isJoinable(result[last][0], operation)) result.push([operation])
    else result[last].push(operation)
  }
  return result.map((same) => (same.length === 1 ? same[0] : join(same)))
}

// Only the latest operation on the same bin may be joined: whatever stands between two of them could depend on the order.
function findSameTarget(operations: readonly (readonly Operation[])[], operation: Operation): number {
  if (!('bin' in operation)) return -1
  for (let i = operations.length - 1; i >= 0; i--) {
    const [other] = operations[i]
    if (other.kind === 'readExpression' || other.kind === 'deleteRecord') return -1
    if ('bin' in other && other.bin === operation.bin) return i
  }
  return -1
}

function isJoinable(a: Operation, b: Operation): boolean {
  if (isWhole(a)) return isWhole(b)
  if (isPut(a)) return isPut(b) && samePath(a.path, b.path)
  if (a.kind === 'listAppendUnique') return b.kind === a.kind && samePath(a.path, b.path) && a.order === b.order
  if (a.kind === 'listRemoveValues') return b.kind === a.kind && samePath(a.path, b.path) && a.returns === b.returns
  if (a.kind === 'mapRemoveKeys') return b.kind === a.kind && samePath(a.path, b.path) && a.returns === b.returns
  return false
}

function join(same: readonly Operation[]): Operation {
  const [first] = same
  switch (first.kind) {
    case 'listAppendUnique':
      return listAppendUnique(first.bin, (same as (typeof first)[]).flatMap(valuesOf), first.path, first.order)
    case 'listRemoveValues':
      return listRemoveValues(first.bin, (same as (typeof first)[]).flatMap(valuesOf), first.returns, first.path)
    case 'mapRemoveKeys': {
      const keys = (same as (typeof first)[]).flatMap((operation) => operation.keys)
      return mapRemoveKeys(first.bin, keys, first.returns, first.path)
    }
    case 'mapPut':
    case 'mapPutItems':
      return mapPutItems(first.bin, new Map((same as Put[]).flatMap(entries)), first.path, first.subtype)
    default:
      return same[same.length - 1]
  }
}

type Whole = Extract<Operation, { kind: 'writeBin' | 'removeBin' }>
type Put = Extract<Operation, { kind: 'mapPut' | 'mapPutItems' }>

const isWhole = (operation: Operation): operation is Whole =>
  operation.kind === 'writeBin' || operation.kind === 'removeBin'

const isPut = (operation: Operation): operation is Put =>
  operation.kind === 'mapPut' || operation.kind === 'mapPutItems'

const valuesOf = ({ values }: { readonly values: readonly Value[] }): readonly Value[] => values

function entries(put: Put): readonly (readonly [MapKey, Value])[] {
  return put.kind === 'mapPut' ? [[put.key, put.value]] : [...put.items]
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
