import {
  and,
  bin as binOf,
  binExists,
  cond,
  eq,
  ge,
  gt,
  listSize,
  listWith,
  listWithAll,
  listWithoutAll,
  mapCount,
  mapCountAt,
  mapGet,
  mapGetAt,
  mapPut,
  mapPutAll,
  mapRemoveKey,
  mapRemoveKeysOf,
  mapSize,
  mapValuesOf,
  unknown,
  value as literal,
  type Expression,
  type PathLevel,
} from '../plan/expression.js'
import type { Operation } from '../plan/operation.js'
import { changePath, children, loopVariable, selectPath } from '../plan/path-expression.js'
import type { Value } from '../plan/value.js'
import { expressionOperations, type ClientOperation } from './aerospike-client.js'
import { encodeExpression } from './encode-expression.js'

// An expression that has no value gives no result instead of failing the whole command.
const EVAL_NO_FAIL = 16

export function readExpression(name: string, expression: Expression): ClientOperation {
  return expressionOperations.read(name, encodeExpression(expression), EVAL_NO_FAIL)
}

export function writeMissing(bin: string, value: Value): ClientOperation {
  const expression = cond(binExists(bin), unknown(), literal(value))
  return expressionOperations.write(bin, encodeExpression(expression), EVAL_NO_FAIL)
}

export function writeExpression(bin: string, expression: Expression): ClientOperation {
  return expressionOperations.write(bin, encodeExpression(expression), 0)
}

// A removal by key takes only a key that is known here; an expression takes one that the record knows.
export function removeFound({ bin, within, keys }: Extract<Operation, { kind: 'mapRemoveFound' }>): ClientOperation {
  const map = binOf('map', bin)
  // Removes all keys in one pass over the map; a single key is not found where the other bin does not have it.
  const left =
    keys.length === 1
      ? mapRemoveKey(map, mapGet(binOf('map', within), keys[0], 'str'))
      : mapRemoveKeysOf(map, mapValuesOf(binOf('map', within), keys))
  return expressionOperations.write(bin, encodeExpression(left), EVAL_NO_FAIL)
}

type FoundTuples = Extract<Operation, { kind: 'listRemoveFound' | 'listPutFound' }>

// Tuples are made of what the record holds: only it knows what another writer may have put there meanwhile.
export function removeTuples(operation: Extract<Operation, { kind: 'listRemoveFound' }>): ClientOperation {
  const left = listWithoutAll(binOf('list', operation.bin), tuplesFound(operation))
  return expressionOperations.write(operation.bin, encodeExpression(left), EVAL_NO_FAIL)
}

export function putTuples(operation: Extract<Operation, { kind: 'listPutFound' }>): ClientOperation {
  const { bin, assumed } = operation
  const found = tuplesFound(operation)
  // Tuples that are found are taken out as well, so that none is there twice.
  const left = listWithoutAll(listWithoutAll(binOf('list', bin), literal(assumed)), found)
  return expressionOperations.write(bin, encodeExpression(listWithAll(left, found)), EVAL_NO_FAIL)
}

function tuplesFound({ kind, within, fields, entries }: FoundTuples): Expression {
  const map = binOf('map', within)
  const tuples = entries.map(({ at, id }): Expression => {
    const place = 'key' in at ? literal(at.key) : mapGet(binOf('map', at.foundIn), id, 'str')
    const isPlaced = 'key' in at ? [] : [isIn(binOf('map', at.foundIn), literal(id))]
    const entry = mapGetAt(map, place, 'map')
    const values = fields.map(({ name, type }) => mapGet(entry, name, type))
    const tuple = [...values, literal(id)].reduce<Expression>((list, item) => listWith(list, item), literal([]))
    // Of many, one that is not there must not keep the others: a value that is unknown makes all of it unknown.
    if (entries.length === 1 && kind === 'listRemoveFound') return listWith(literal([]), tuple)
    const hasFields = fields.map(({ name }) => isIn(entry, literal(name)))
    return cond(and(...isPlaced, isIn(map, place), ...hasFields), listWith(literal([]), tuple), literal([]))
  })
  return mergedInPairs(tuples, listWithAll)
}

const isIn = (map: Expression, key: Expression): Expression => gt(mapCountAt(map, key), literal(0))

export function moveEntries({ bin, moves }: Extract<Operation, { kind: 'mapMove' }>): ClientOperation {
  const map = binOf('map', bin)
  const moved = moves.map(({ from, to }) => {
    // When the write is repeated because its answer was lost, the entry may be there already.
    const entry = cond(gt(mapCount(map, from), literal(0)), mapGet(map, from, 'map'), mapGet(map, to, 'map'))
    return mapPut(literal(new Map<never, Value>()), to, entry)
  })
  const rest = mapRemoveKeysOf(map, literal(moves.map(({ from }) => from)))
  return writeExpression(bin, mapPutAll(rest, mergedInPairs(moved, mapPutAll)))
}

/** Merges small ones first, because each step copies both. */
function mergedInPairs(
  all: readonly Expression[],
  merge: (one: Expression, other: Expression) => Expression,
): Expression {
  if (all.length === 1) return all[0]
  const half = Math.ceil(all.length / 2)
  return merge(mergedInPairs(all.slice(0, half), merge), mergedInPairs(all.slice(half), merge))
}

// Only the record knows what the entry holds: others may have changed it since it was read.
export function setAside({ bin, from, key, stamp }: Extract<Operation, { kind: 'mapSetAside' }>): ClientOperation {
  const entries = binOf('map', from)
  const kept = cond(binExists(bin), binOf('map', bin), literal(new Map<never, Value>()))
  const entry = listWith(literal([stamp]), mapGet(entries, key, 'map'))
  const changed = cond(gt(mapCount(entries, key), literal(0)), mapPut(kept, key, entry), unknown())
  return expressionOperations.write(bin, encodeExpression(changed), EVAL_NO_FAIL)
}

// Nothing is made up where the bin is missing: an empty list or map has no children.
export function changeByPath({
  bin,
  type,
  levels,
  change,
  adds,
}: Extract<Operation, { kind: 'changeByPath' }>): ClientOperation {
  const empty = literal(type === 'list' ? [] : new Map<never, Value>())
  const subject = cond(binExists(bin), binOf(type, bin), empty)
  const changed = changePath(subject, levels, change, type)
  return writeExpression(bin, adds ? cond(canAddToAll(subject, levels, change), changed, unknown()) : changed)
}

/** True where each part that the path leads to takes the increment: the change itself passes over what has no number to add to. */
function canAddToAll(subject: Expression, levels: readonly PathLevel[], increment: Expression): Expression {
  const sizeOf = (part: Expression): Expression => ge(mapSize(part), literal(0))
  const count = (test: Expression): Expression => listSize(selectPath(subject, whereAlso(levels, test)))
  return eq(count(sizeOf(loopVariable('map'))), count(sizeOf(increment)))
}

function whereAlso(levels: readonly PathLevel[], test: Expression): readonly PathLevel[] {
  return levels.map((level, i) => {
    if (i < levels.length - 1 || level.in !== 'children') return level
    return children(level.where === undefined ? test : and(level.where, test))
  })
}
