import type { Operation, Order, Returns } from '../plan/operation.js'
import type { Value } from '../plan/value.js'
import { lists, type CollectionOperation } from './aerospike-client.js'
import { clientValue } from './client-values.js'

type ListOperation = Exclude<Extract<Operation, { kind: `list${string}` }>, { kind: 'listRemoveFound' }>

// Without PARTIAL one duplicate would drop every item of the call.
const UNIQUE = lists.writeFlags.ADD_UNIQUE | lists.writeFlags.NO_FAIL | lists.writeFlags.PARTIAL

// Turns a selection into all other items.
const ALL_BUT = 0x10000

export const listReturns: Readonly<Record<Returns, number>> = {
  none: lists.returnType.NONE,
  count: lists.returnType.COUNT,
  value: lists.returnType.VALUE,
  key: lists.returnType.VALUE,
  keyValue: lists.returnType.VALUE,
  index: lists.returnType.INDEX,
  rank: lists.returnType.RANK,
  exists: lists.returnType.EXISTS,
}

export function isListOperation(operation: Operation): operation is ListOperation {
  return operation.kind.startsWith('list')
}

export function listOperation(operation: ListOperation): CollectionOperation {
  const { bin } = operation
  const one = (value: Value): unknown => clientValue(value, bin)
  switch (operation.kind) {
    case 'listCreate':
      return lists.create(bin, orderOf(operation.order), false, operation.persistIndex)
    case 'listAppend':
      return lists.appendItems(bin, operation.values.map(one), { order: orderOf(operation.order) })
    case 'listAppendUnique':
      return lists.appendItems(bin, operation.values.map(one), {
        order: orderOf(operation.order),
        writeFlags: UNIQUE,
      })
    case 'listRemoveValues':
      return operation.values.length === 1
        ? lists.removeByValue(bin, one(operation.values[0]))
        : lists.removeByValueList(bin, operation.values.map(one))
    case 'listRemoveIndexRange':
      return lists.removeByIndexRange(bin, operation.index, operation.count)
    case 'listRemoveRankRange':
      return lists.removeByRankRange(bin, operation.rank, operation.count)
    case 'listRemoveInterval':
      return removeInterval(operation)
    case 'listSet':
      return lists.set(bin, operation.index, one(operation.value))
    case 'listInsert':
      return lists.insertItems(
        bin,
        operation.index,
        operation.values.map(one),
        operation.unique ? { writeFlags: UNIQUE } : undefined,
      )
    case 'listIncrement':
      return lists.increment(bin, operation.index, one(operation.delta))
    case 'listClear':
      return lists.clear(bin)
    case 'listSize':
      return lists.size(bin)
    case 'listGetIndexRange':
      return lists.getByIndexRange(bin, operation.index, operation.count)
    case 'listGetValues':
      return operation.values.length === 1
        ? lists.getByValue(bin, one(operation.values[0]))
        : lists.getByValueList(bin, operation.values.map(one))
    case 'listGetValueRange':
      return lists.getByValueRange(bin, one(operation.begin), one(operation.end))
  }
}

function removeInterval({
  bin,
  begin,
  end,
  keep,
}: Extract<Operation, { kind: 'listRemoveInterval' }>): CollectionOperation {
  const removed = lists.removeByValueRange(
    bin,
    begin === null ? null : clientValue(begin, bin),
    end === null ? undefined : clientValue(end, bin),
  )
  return removed.andReturn(keep ? lists.returnType.NONE | ALL_BUT : lists.returnType.NONE)
}

function orderOf(order: Order): number {
  return order === 'ordered' ? lists.order.ORDERED : lists.order.UNORDERED
}
