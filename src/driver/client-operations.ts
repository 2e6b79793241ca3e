import { sizeOf } from '../plan/size-of.js'
import { add, bin as binOf, binExists, cond, sub, value as literal, type Expression } from '../plan/expression.js'
import type { Operation, Path, Order, Returns, MapSubtype } from '../plan/operation.js'
import { listOfOne, writeBin } from '../plan/operations.js'
import { isDouble, type Value } from '../plan/value.js'
import {
  maps,
  newContext,
  scalarOperations as scalar,
  writeOperation,
  type ClientContext,
  type ClientOperation,
  type CollectionOperation,
  lists,
} from './aerospike-client.js'
import { clientValue } from './client-record.js'
import {
  changeByPath,
  moveEntries,
  readExpression,
  removeFound,
  putTuples,
  removeTuples,
  setAside,
  writeExpression,
  writeMissing,
} from './client-expression-operations.js'

/** The operation as the client takes it. */
export function clientOperation(operation: Operation): ClientOperation {
  switch (operation.kind) {
    case 'writeBin':
      return writeValue(operation.bin, operation.value)
    case 'removeBin':
      return writeOperation(operation.bin, null)
    case 'writeMissingBin':
      return writeMissing(operation.bin, operation.value)
    case 'writeSize':
      return writeExpression(operation.bin, sizeOf(operation.type, operation.of))
    case 'addSize': {
      const [before, size] = [intOrZero(operation.bin), sizeOf(operation.type, operation.of)]
      return writeExpression(operation.bin, operation.sign > 0 ? add(before, size) : sub(before, size))
    }
    case 'addToBin':
      return addOperation(operation.bin, operation.delta)
    case 'readBin':
      return scalar.read(operation.bin)
    case 'readExpression':
      return readExpression(operation.name, operation.expression)
    case 'changeByPath':
      return changeByPath(operation)
    case 'rawRead':
    case 'rawWrite':
      return operation.operation
    case 'touch':
      return scalar.touch()
    case 'deleteRecord':
      return scalar.delete()
    case 'mapRemoveFound':
      return removeFound(operation)
    case 'listRemoveFound':
      return removeTuples(operation)
    case 'listPutFound':
      return putTuples(operation)
    case 'mapMove':
      return moveEntries(operation)
    case 'mapSetAside':
      return setAside(operation)
    default:
      return collectionOperation(operation)
  }
}

// The client's write and add refuse BigInt; what does not fit a number goes as an expression, which takes all 64 bits.
function writeValue(bin: string, value: Value): ClientOperation {
  if (typeof value !== 'bigint') return writeOperation(bin, clientValue(value, bin))
  return isSafe(value) ? writeOperation(bin, Number(value)) : writeExpression(bin, literal(value))
}

function addOperation(bin: string, delta: Value): ClientOperation {
  if (typeof delta === 'bigint' && !isSafe(delta)) {
    const sum = cond(binExists(bin), add(binOf('int', bin), literal(delta)), literal(delta))
    return writeExpression(bin, sum)
  }
  return scalar.incr(bin, isDouble(delta) ? clientValue(delta, bin) : Number(delta))
}

function isSafe(value: bigint): boolean {
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER
}

type OnCollection = ListOperation | MapOperation

function collectionOperation(operation: OnCollection): ClientOperation {
  const isList = isListOperation(operation)
  const built: CollectionOperation = isList ? listOperation(operation) : mapOperation(operation)
  if ('returns' in operation) built.andReturn((isList ? listReturns : mapReturns)[operation.returns])
  if ('path' in operation && operation.path !== undefined && operation.path.length > 0)
    built.withContext(contextOf(operation.path, operation.bin))
  return built
}

function contextOf(path: Path, bin: string): ClientContext {
  const context = newContext()
  for (const step of path) {
    if (step.in === 'mapKey' && step.create === true)
      context.addMapKeyCreate(clientValue(step.key, bin), ORDERS[step.order ?? 'ordered'])
    else if (step.in === 'mapKey') context.addMapKey(clientValue(step.key, bin))
    else if (step.in === 'mapIndex') context.addMapIndex(step.index)
    else if (step.in === 'mapRank') context.addMapRank(step.rank)
    else if (step.in === 'listIndex') context.addListIndex(step.index)
    else if (step.in === 'listRank') context.addListRank(step.rank)
    else context.addListValue(clientValue(step.value, bin))
  }
  return context
}

type ListOperation = Exclude<Extract<Operation, { kind: `list${string}` }>, { kind: `list${string}Found` }>

// Without PARTIAL one duplicate would drop every item of the call.
const UNIQUE = lists.writeFlags.ADD_UNIQUE | lists.writeFlags.NO_FAIL | lists.writeFlags.PARTIAL

// Turns a selection into all other items. The client has a method for this on lists only; the server knows the flag for both.
const ALL_BUT = 0x10000

const listReturns: Readonly<Record<Returns, number>> = {
  none: lists.returnType.NONE,
  count: lists.returnType.COUNT,
  value: lists.returnType.VALUE,
  key: lists.returnType.VALUE,
  keyValue: lists.returnType.VALUE,
  index: lists.returnType.INDEX,
  rank: lists.returnType.RANK,
  exists: lists.returnType.EXISTS,
}

function isListOperation(operation: Operation): operation is ListOperation {
  return operation.kind.startsWith('list')
}

function listOperation(operation: ListOperation): CollectionOperation {
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

type MapOperation = Exclude<
  Extract<Operation, { kind: `map${string}` }>,
  { kind: 'mapRemoveFound' | 'mapMove' | 'mapSetAside' }
>

const K_ORDERED = { order: maps.order.KEY_ORDERED }
const ORDERS = {
  unordered: maps.order.UNORDERED,
  ordered: maps.order.KEY_ORDERED,
  keyValue: maps.order.KEY_VALUE_ORDERED,
}
// The client has an option for this on create only; the server takes the flag with the order of every put that creates a map.
const PERSIST_INDEX = 0x10
const IF_MISSING = maps.writeFlags.CREATE_ONLY | maps.writeFlags.NO_FAIL
const mapReturns: Readonly<Record<Returns, number>> = {
  none: maps.returnType.NONE,
  count: maps.returnType.COUNT,
  value: maps.returnType.VALUE,
  key: maps.returnType.KEY,
  keyValue: maps.returnType.KEY_VALUE,
  index: maps.returnType.INDEX,
  rank: maps.returnType.RANK,
  exists: maps.returnType.EXISTS,
}

function mapOperation(operation: MapOperation): CollectionOperation {
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
      return maps.put(bin, one(operation.key), one(operation.value), { ...policyOf(operation), writeFlags: IF_MISSING })
    case 'mapRemoveValues':
      return operation.values.length === 1
        ? maps.removeByValue(bin, one(operation.values[0]))
        : maps.removeByValueList(bin, operation.values.map(one))
    case 'mapRemoveBelow':
      return maps.removeByValueRange(bin, null, one(operation.end))
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

/** Operations that set these bins, as a row of a batch takes them; made to measure, because most writes change one bin. */
export function binOperations(bins: object): readonly ClientOperation[] {
  let operations: ClientOperation[] | undefined
  for (const name in bins) {
    const value = (bins as Record<string, unknown>)[name]
    // Only `put` takes a BigInt as it is.
    const operation = typeof value === 'bigint' ? clientOperation(writeBin(name, value)) : writeOperation(name, value)
    if (operations === undefined) operations = listOfOne(operation)
    else operations.push(operation)
  }
  return operations ?? []
}

const intOrZero = (name: string): Expression => cond(binExists(name), binOf('int', name), literal(0))
