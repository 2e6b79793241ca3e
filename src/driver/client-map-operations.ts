import type { MapSubtype, Operation, Returns } from '../plan/operation.js'
import type { Value } from '../plan/value.js'
import { maps, type CollectionOperation } from './aerospike-client.js'
import { clientValue } from './client-values.js'

export type MapOperation = Exclude<Extract<Operation, { kind: `map${string}` }>, { kind: 'mapRemoveFound' | 'mapMove' }>

const K_ORDERED = { order: maps.order.KEY_ORDERED }
const ORDERS = {
  unordered: maps.order.UNORDERED,
  ordered: maps.order.KEY_ORDERED,
  keyValue: maps.order.KEY_VALUE_ORDERED,
}
// The client has an option for this on create only; the server takes the flag with the order of every put that creates a map.
const PERSIST_INDEX = 0x10
const K_ORDERED_IF_MISSING = {
  order: maps.order.KEY_ORDERED,
  writeFlags: maps.writeFlags.CREATE_ONLY | maps.writeFlags.NO_FAIL,
}
// The client has a method for this on lists only; the server knows the flag for both.
const ALL_BUT = 0x10000

export const mapReturns: Readonly<Record<Returns, number>> = {
  none: maps.returnType.NONE,
  count: maps.returnType.COUNT,
  value: maps.returnType.VALUE,
  key: maps.returnType.KEY,
  keyValue: maps.returnType.KEY_VALUE,
  index: maps.returnType.INDEX,
  rank: maps.returnType.RANK,
  exists: maps.returnType.EXISTS,
}

export function mapOperation(operation: MapOperation): CollectionOperation {
  const { bin } = operation
  const one = (value: Value): unknown => clientValue(value, bin)
  switch (operation.kind) {
    case 'mapCreate':
      return maps.create(bin, ORDERS[operation.order], operation.persistIndex)
    case 'mapPut':
      return maps.put(bin, one(operation.key), one(operation.value), policyOf(operation))
    case 'mapPutItems':
      return maps.putItems(bin, one(operation.items), policyOf(operation))
    case 'mapIncrement':
      return maps.increment(bin, one(operation.key), one(operation.delta), policyOf(operation))
    case 'mapRemoveKeys':
      return operation.keys.length === 1
        ? maps.removeByKey(bin, one(operation.keys[0]))
        : maps.removeByKeyList(bin, operation.keys.map(one))
    case 'mapPutMissing':
      return maps.put(bin, one(operation.key), one(operation.value), K_ORDERED_IF_MISSING)
    case 'mapRemoveValues':
      return operation.values.length === 1
        ? maps.removeByValue(bin, one(operation.values[0]))
        : maps.removeByValueList(bin, operation.values.map(one))
    case 'mapKeepRange':
      return keepRange(operation)
    case 'mapClear':
      return maps.clear(bin)
    case 'mapSize':
      return maps.size(bin)
    case 'mapGetKeys':
      return operation.keys.length === 1
        ? maps.getByKey(bin, one(operation.keys[0]))
        : maps.getByKeyList(bin, operation.keys.map(one))
    case 'mapGetKeyRange':
      return maps.getByKeyRange(bin, operation.begin, operation.end)
    case 'mapGetIndexRange':
      return maps.getByIndexRange(bin, operation.index, operation.count)
  }
}

function policyOf({ subtype }: { readonly subtype?: MapSubtype }): { order: number } {
  if (subtype === undefined) return K_ORDERED
  return { order: ORDERS[subtype.order] | (subtype.persistIndex ? PERSIST_INDEX : 0) }
}

function keepRange({ bin, by, from, count }: Extract<Operation, { kind: 'mapKeepRange' }>): CollectionOperation {
  const kept = by === 'index' ? maps.removeByIndexRange(bin, from, count) : maps.removeByRankRange(bin, from, count)
  return kept.andReturn(maps.returnType.NONE | ALL_BUT)
}
