import type { Operation, Returns } from '../plan/operation.js'
import type { Value } from '../plan/value.js'
import { maps, type CollectionOperation } from './aerospike-client.js'
import { clientValue } from './client-values.js'

type MapOperation = Extract<Operation, { kind: `map${string}` }>

const K_ORDERED = { order: maps.order.KEY_ORDERED }

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
      return maps.create(
        bin,
        operation.order === 'ordered' ? maps.order.KEY_ORDERED : maps.order.UNORDERED,
        operation.persistIndex,
      )
    case 'mapPut':
      return maps.put(bin, one(operation.key), one(operation.value), K_ORDERED)
    case 'mapPutItems':
      return maps.putItems(bin, one(operation.items), K_ORDERED)
    case 'mapIncrement':
      return maps.increment(bin, one(operation.key), one(operation.delta), K_ORDERED)
    case 'mapRemoveKeys':
      return operation.keys.length === 1
        ? maps.removeByKey(bin, one(operation.keys[0]))
        : maps.removeByKeyList(bin, operation.keys.map(one))
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
