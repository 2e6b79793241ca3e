import type { Path, Step } from './path.js'
import type { Value } from './value.js'

export type BinType = 'int' | 'float' | 'str' | 'blob' | 'bool' | 'list' | 'map' | 'geo'

/** The operators a plan may use; the driver knows how the client spells each of them. */
export type ExpressionName =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'ge'
  | 'lt'
  | 'le'
  | 'and'
  | 'or'
  | 'not'
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'mod'
  | 'abs'
  | 'toFloat'
  | 'regex'
  | 'digestModulo'
  | 'cond'
  | 'unknown'
  | 'binExists'
  | 'recordSize'
  | 'sinceUpdate'
  | 'listSize'
  | 'listCount'
  | 'listCountBetween'
  | 'listCountOf'
  | 'listSlice'
  | 'listFrom'
  | 'mapSize'
  | 'mapGet'
  | 'mapCount'
  | 'mapKeySlice'
  | 'mapValueSlice'
  | 'mapKeysFrom'
  | 'mapValuesFrom'
  | 'mapCountOf'
  | 'mapCountBetween'
  | 'mapValueCount'
  | 'mapValueCountBetween'
  | 'mapValueCountOf'
  | 'mapIndexOf'
  | 'mapRemoveKey'
  | 'listWith'
  | 'mapRemoveKeysOf'
  | 'mapValuesOf'
  | 'mapPut'
  | 'mapPutAll'
  | 'listWithAll'
  | 'listWithoutAll'

/** Calls that answer a question about a list or map. */
export type CollectionQuestion =
  | 'listSize'
  | 'listSlice'
  | 'listRankSlice'
  | 'listCountOf'
  | 'listIndexesOf'
  | 'listRanksOf'
  | 'listInterval'
  | 'listIntervalCount'
  | 'mapSize'
  | 'mapKeySlice'
  | 'mapValueSlice'
  | 'mapKeysByRank'
  | 'mapValuesByRank'
  | 'mapKeysAmong'
  | 'mapValuesAmong'
  | 'mapCountAmong'
  | 'mapRankOfKey'
  | 'mapIndexOfKey'

/** Calls that answer a changed copy of a list or map. */
export type CollectionEdit =
  | 'listAppend'
  | 'listAppendUnique'
  | 'listInsert'
  | 'listInsertUnique'
  | 'listSet'
  | 'listIncrement'
  | 'listRemoveValues'
  | 'listRemoveRange'
  | 'listRemoveRankRange'
  | 'listRemoveInterval'
  | 'listKeepInterval'
  | 'listClear'
  | 'mapPut'
  | 'mapPutItems'
  | 'mapPutMissing'
  | 'mapIncrement'
  | 'mapRemoveKeys'
  | 'mapClear'

/** A call of a list or map operation on the result of another expression, optionally on a value nested in it. */
export interface CollectionExpression {
  readonly kind: 'collection'
  readonly name: CollectionQuestion | CollectionEdit
  readonly subject: Expression
  readonly args: readonly Value[]
  readonly type: BinType
  readonly path?: Path
}

/** A level of a path: a step to one child, or to all children that meet a condition. */
export type PathLevel = Step | { readonly in: 'children'; readonly where?: Expression }

/** Values nested in the result of another expression, selected or changed by path (server 8.1.2). */
export interface PathExpression {
  readonly kind: 'path'
  readonly subject: Expression
  readonly levels: readonly PathLevel[]
  readonly type: BinType
  /** New value of each; absent: they are selected. */
  readonly change?: Expression
}

/** An expression the server evaluates, as data. */
export type Expression =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'bin'; readonly type: BinType; readonly name: string }
  | {
      readonly kind: 'call'
      readonly name: ExpressionName
      readonly args: readonly Expression[]
      readonly type?: BinType
    }
  | CollectionExpression
  | PathExpression
  /** The child that a path has reached. */
  | { readonly kind: 'loopVariable'; readonly type: BinType }
  /** As the change of a path: the child is taken out. */
  | { readonly kind: 'takenOut' }

export const value = (value: Value): Expression => Object.freeze({ kind: 'value', value })
export const bin = (type: BinType, name: string): Expression => Object.freeze({ kind: 'bin', type, name })

const call = (name: ExpressionName, args: readonly Expression[], type?: BinType): Expression =>
  Object.freeze(type === undefined ? { kind: 'call', name, args } : { kind: 'call', name, args, type })

export const eq = (left: Expression, right: Expression): Expression => call('eq', [left, right])
export const ne = (left: Expression, right: Expression): Expression => call('ne', [left, right])
export const gt = (left: Expression, right: Expression): Expression => call('gt', [left, right])
export const ge = (left: Expression, right: Expression): Expression => call('ge', [left, right])
export const lt = (left: Expression, right: Expression): Expression => call('lt', [left, right])
export const le = (left: Expression, right: Expression): Expression => call('le', [left, right])
export const and = (...args: readonly Expression[]): Expression => call('and', args)
export const or = (...args: readonly Expression[]): Expression => call('or', args)
export const not = (arg: Expression): Expression => call('not', [arg])
export const add = (...args: readonly Expression[]): Expression => call('add', args)
export const sub = (left: Expression, right: Expression): Expression => call('sub', [left, right])
export const mul = (...args: readonly Expression[]): Expression => call('mul', args)
/** Division; of integers it drops the remainder, and by zero it is unknown. */
export const div = (left: Expression, right: Expression): Expression => call('div', [left, right])
export const mod = (left: Expression, right: Expression): Expression => call('mod', [left, right])
export const abs = (arg: Expression): Expression => call('abs', [arg])
export const toFloat = (arg: Expression): Expression => call('toFloat', [arg])
/** True when a POSIX extended pattern is found anywhere in the text. */
export const regex = (pattern: string, ignoreCase: boolean, text: Expression): Expression =>
  call('regex', [value(ignoreCase ? EXTENDED | IGNORE_CASE : EXTENDED), value(pattern), text])
const EXTENDED = 1
const IGNORE_CASE = 2
/** A number below `divisor` made of the record's digest: the same share of all records each time. */
export const digestModulo = (divisor: number): Expression => call('digestModulo', [value(divisor)])
/** `cond(test, then, otherwise)`: the only branching the server has. */
export const cond = (test: Expression, then: Expression, otherwise: Expression): Expression =>
  call('cond', [test, then, otherwise])
/** An expression read that evaluates to this gives no result. */
export const unknown = (): Expression => call('unknown', [])
export const binExists = (name: string): Expression => call('binExists', [value(name)])
export const recordSize = (): Expression => call('recordSize', [])
/** Milliseconds since the record was last written, by the server's own clock. */
export const sinceUpdate = (): Expression => call('sinceUpdate', [])
export const listSize = (list: Expression): Expression => call('listSize', [list])
/** Number of times the list holds the value. */
export const listCount = (list: Expression, item: Value): Expression => call('listCount', [list, value(item)])
/** Number of times the list holds a value that is found by an expression. */
export const listCountAt = (list: Expression, item: Expression): Expression => call('listCount', [list, item])
/** Number of items of the list from one value up to, but not including, another. */
export const listCountBetween = (list: Expression, from: Value, to: Value): Expression =>
  call('listCountBetween', [list, value(from), value(to)])
/** Number of items of the list that are among these values. */
export const listCountOf = (list: Expression, items: readonly Value[]): Expression =>
  call('listCountOf', [list, value(items)])
/** Items of a list by position. */
export const listSlice = (list: Expression, index: number, count: number): Expression =>
  call('listSlice', [list, value(index), value(count)], 'list')
/** Items of a list in their order, from this one on; from the next one where it is not there. */
export const listFrom = (list: Expression, item: Value, count: number): Expression =>
  call('listFrom', [list, value(item), value(0), value(count)], 'list')
export const mapSize = (map: Expression): Expression => call('mapSize', [map])
/** The value under a key, of a known type. */
export const mapGet = (map: Expression, key: Value, type: BinType): Expression => mapGetAt(map, value(key), type)
/** The value under a key that is itself an expression. */
export const mapGetAt = (map: Expression, key: Expression, type: BinType): Expression =>
  call('mapGet', [map, key], type)
/** 1 when the map has the key, else 0. */
export const mapCount = (map: Expression, key: Value): Expression => call('mapCount', [map, value(key)])
export const mapCountAt = (map: Expression, key: Expression): Expression => call('mapCount', [map, key])
/** Keys of a map by position. */
export const mapKeySlice = (map: Expression, index: number, count: number): Expression =>
  call('mapKeySlice', [map, value(index), value(count)], 'list')
/** Values of a map by the positions of their keys. */
export const mapValueSlice = (map: Expression, index: number, count: number): Expression =>
  call('mapValueSlice', [map, value(index), value(count)], 'list')
/** Keys of a map in their order, from this one on; from the next one where it is not there. */
export const mapKeysFrom = (map: Expression, key: Value, count: number): Expression =>
  call('mapKeysFrom', [map, value(key), value(0), value(count)], 'list')
/** Values of a map in the order of their keys, from this key on. */
export const mapValuesFrom = (map: Expression, key: Value, count: number): Expression =>
  call('mapValuesFrom', [map, value(key), value(0), value(count)], 'list')
/** Number of the given keys that the map has. */
export const mapCountOf = (map: Expression, keys: readonly Value[]): Expression =>
  call('mapCountOf', [map, value(keys)])
/** Number of keys of the map from one up to, but not including, another. */
export const mapCountBetween = (map: Expression, from: Value, to: Value): Expression =>
  call('mapCountBetween', [map, value(from), value(to)])
/** Number of entries of the map that hold the value. */
export const mapValueCount = (map: Expression, item: Value): Expression => call('mapValueCount', [map, value(item)])
/** Number of entries of the map that hold a value from one up to, but not including, another. */
export const mapValueCountBetween = (map: Expression, from: Value, to: Value): Expression =>
  call('mapValueCountBetween', [map, value(from), value(to)])
/** Number of entries of the map that hold one of the values. */
export const mapValueCountOf = (map: Expression, items: readonly Value[]): Expression =>
  call('mapValueCountOf', [map, value(items)])
/** Position of a key in key order; unknown where the map does not have it. */
export const mapIndexOf = (map: Expression, key: Expression): Expression => call('mapIndexOf', [map, key])
/** The map without a key. */
export const mapRemoveKey = (map: Expression, key: Expression): Expression => call('mapRemoveKey', [map, key], 'map')
/** The list with one more item. */
export const listWith = (list: Expression, item: Expression): Expression => call('listWith', [list, item], 'list')
/** The list with all items of another one. */
export const listWithAll = (list: Expression, items: Expression): Expression =>
  call('listWithAll', [list, items], 'list')
/** The list without the items that equal one of these. */
export const listWithoutAll = (list: Expression, items: Expression): Expression =>
  call('listWithoutAll', [list, items], 'list')
/** The map without the keys of a list. */
export const mapRemoveKeysOf = (map: Expression, keys: Expression): Expression =>
  call('mapRemoveKeysOf', [map, keys], 'map')
/** The values under those of the keys that the map has. */
export const mapValuesOf = (map: Expression, keys: readonly Value[]): Expression =>
  call('mapValuesOf', [map, value(keys)], 'list')
/** The values under those keys of a list, itself an expression, that the map has. */
export const mapValuesOfList = (map: Expression, keys: Expression): Expression =>
  call('mapValuesOf', [map, keys], 'list')
/** The map with an entry, in key order. */
export const mapPut = (map: Expression, key: Value, entry: Expression): Expression =>
  call('mapPut', [map, value(key), entry, value(KEY_ORDERED)], 'map')
/** The map with all entries of another one. */
export const mapPutAll = (map: Expression, entries: Expression): Expression =>
  call('mapPutAll', [map, entries, value(KEY_ORDERED)], 'map')
const KEY_ORDERED = 1
