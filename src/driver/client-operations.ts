import { sizeOf } from '../plan/size-of.js'
import {
  add,
  bin as binOf,
  binExists,
  cond,
  gt,
  listWith,
  listWithout,
  mapCount,
  mapGet,
  mapGetAt,
  mapPut,
  mapRemoveKey,
  mapRemoveKeysOf,
  mapValuesOf,
  unknown,
  value as literal,
  type Expression,
} from '../plan/expression.js'
import { changePath } from '../plan/path-expression.js'
import type { Operation, Path } from '../plan/operation.js'
import { isDouble, type Value } from '../plan/value.js'
import {
  expressionOperations,
  maps,
  newContext,
  scalarOperations as scalar,
  writeOperation,
} from './aerospike-client.js'
import type { ClientContext, ClientOperation, CollectionOperation } from './aerospike-client.js'
import { isListOperation, listOperation, listReturns } from './client-list-operations.js'
import { mapOperation, mapReturns, type MapOperation } from './client-map-operations.js'
import { clientValue } from './client-values.js'
import { encodeExpression } from './encode-expression.js'

const { KEY_ORDERED } = maps.order

// An expression that has no value gives no result instead of failing the whole command.
const EVAL_NO_FAIL = 16

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
      return writeExpression(operation.bin, encodeExpression(sizeOf(operation.type, operation.of)))
    case 'addToBin':
      return addOperation(operation.bin, operation.delta)
    case 'readBin':
      return scalar.read(operation.bin)
    case 'readExpression':
      return readExpression(operation.name, encodeExpression(operation.expression))
    case 'changeByPath':
      return writeExpression(operation.bin, encodeExpression(changedByPath(operation)))
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
      return removeTuple(operation)
    case 'mapMove':
      return moveEntry(operation)
    default:
      return collectionOperation(operation)
  }
}

export function readExpression(name: string, expression: string): ClientOperation {
  return expressionOperations.read(name, expression, EVAL_NO_FAIL)
}

// The client's write and add refuse BigInt; what does not fit a number goes as an expression, which takes all 64 bits.
function writeValue(bin: string, value: Value): ClientOperation {
  if (typeof value !== 'bigint') return writeOperation(bin, clientValue(value, bin))
  return isSafe(value) ? writeOperation(bin, Number(value)) : writeExpression(bin, encodeExpression(literal(value)))
}

function writeMissing(bin: string, value: Value): ClientOperation {
  const expression = cond(binExists(bin), unknown(), literal(value))
  return expressionOperations.write(bin, encodeExpression(expression), EVAL_NO_FAIL)
}

function addOperation(bin: string, delta: Value): ClientOperation {
  if (typeof delta === 'bigint' && !isSafe(delta)) {
    const sum = cond(binExists(bin), add(binOf('int', bin), literal(delta)), literal(delta))
    return writeExpression(bin, encodeExpression(sum))
  }
  return scalar.incr(bin, isDouble(delta) ? clientValue(delta, bin) : Number(delta))
}

function writeExpression(bin: string, expression: string): ClientOperation {
  return expressionOperations.write(bin, expression, 0)
}

// A removal by key takes only a key that is known here; an expression takes one that the record knows.
function removeFound({ bin, within, keys }: Extract<Operation, { kind: 'mapRemoveFound' }>): ClientOperation {
  const map = binOf('map', bin)
  // Removes all keys in one pass over the map; a single key is not found where the other bin does not have it.
  const left =
    keys.length === 1
      ? mapRemoveKey(map, mapGet(binOf('map', within), keys[0], 'str'))
      : mapRemoveKeysOf(map, mapValuesOf(binOf('map', within), keys))
  return expressionOperations.write(bin, encodeExpression(left), EVAL_NO_FAIL)
}

// The tuple is made of what the record holds: only it knows what another writer may have put there meanwhile.
function removeTuple({
  bin,
  within,
  at,
  fields,
  id,
}: Extract<Operation, { kind: 'listRemoveFound' }>): ClientOperation {
  const place = 'key' in at ? literal(at.key) : mapGet(binOf('map', at.foundIn), id, 'str')
  const entry = mapGetAt(binOf('map', within), place, 'map')
  const values = fields.map(({ name, type }) => mapGet(entry, name, type))
  const tuple = [...values, literal(id)].reduce<Expression>((list, item) => listWith(list, item), literal([]))
  return expressionOperations.write(bin, encodeExpression(listWithout(binOf('list', bin), tuple)), EVAL_NO_FAIL)
}

function moveEntry({ bin, from, to }: Extract<Operation, { kind: 'mapMove' }>): ClientOperation {
  const map = binOf('map', bin)
  // When the write is repeated because its answer was lost, the entry may be there already.
  const entry = cond(gt(mapCount(map, from), literal(0)), mapGet(map, from, 'map'), mapGet(map, to, 'map'))
  const moved = mapPut(mapRemoveKey(map, literal(from)), to, entry)
  return writeExpression(bin, encodeExpression(moved))
}

// Nothing is made up where the bin is missing: an empty list or map has no children.
function changedByPath({ bin, type, levels, change }: Extract<Operation, { kind: 'changeByPath' }>): Expression {
  const empty = literal(type === 'list' ? [] : new Map<never, Value>())
  return changePath(cond(binExists(bin), binOf(type, bin), empty), levels, change, type)
}

function isSafe(value: bigint): boolean {
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER
}

type OnCollection = Exclude<Extract<Operation, { kind: `list${string}` }>, { kind: 'listRemoveFound' }> | MapOperation

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
    if (step.in === 'mapKey' && step.create === true) context.addMapKeyCreate(clientValue(step.key, bin), KEY_ORDERED)
    else if (step.in === 'mapKey') context.addMapKey(clientValue(step.key, bin))
    else if (step.in === 'mapIndex') context.addMapIndex(step.index)
    else if (step.in === 'mapRank') context.addMapRank(step.rank)
    else if (step.in === 'listIndex') context.addListIndex(step.index)
    else if (step.in === 'listRank') context.addListRank(step.rank)
    else context.addListValue(clientValue(step.value, bin))
  }
  return context
}
