import type { Expression, PathLevel } from './expression.js'
import type * as Op from './operation.js'
import type { MapKey, Value } from './value.js'

// Makers of operations: the only way plans get their operations, so all of a kind have one shape. A plan that is shown is frozen.

/** Made by a constructor, as the commands are, because every save makes one. */
class WriteBin implements Op.WriteBin {
  readonly kind = 'writeBin'
  readonly bin: string
  readonly value: Value

  constructor(bin: string, value: Value) {
    this.bin = bin
    this.value = value
  }
}

const ROOM_FOR_ONE: readonly unknown[] = [undefined]

/** List of one item. A copy, not a literal, for the reason that commands are made by constructors; made to measure. */
export function listOfOne<T>(item: T): T[] {
  const list = ROOM_FOR_ONE.slice() as T[]
  list[0] = item
  return list
}

export const writeBin = (bin: string, value: Value): Op.WriteBin => new WriteBin(bin, value)
export const removeBin = (bin: string): Op.RemoveBin => ({ kind: 'removeBin', bin })
export const writeMissingBin = (bin: string, value: Value): Op.WriteMissingBin => ({
  kind: 'writeMissingBin',
  bin,
  value,
})
export const writeSize = (bin: string, of: string, type: 'list' | 'map'): Op.WriteSize =>
  Object.freeze({ kind: 'writeSize', bin, of, type })
export const addSize = (bin: string, of: string, type: 'list' | 'map', sign: 1 | -1): Op.AddSize =>
  Object.freeze({ kind: 'addSize', bin, of, type, sign })
export const addToBin = (bin: string, delta: Value): Op.AddToBin => ({ kind: 'addToBin', bin, delta })
/** Counts a write of a record whose version is not known. */
export const countWrite = (bin: string): Op.AddToBin => ({ kind: 'addToBin', bin, delta: 1, countsWrites: true })
export const readBin = (bin: string): Op.ReadBin => Object.freeze({ kind: 'readBin', bin })
export const readExpression = (name: string, expression: Expression): Op.ReadExpression =>
  Object.freeze({ kind: 'readExpression', name, expression })
export const touch = (): Op.Touch => Object.freeze({ kind: 'touch' })
export const deleteRecord = (): Op.DeleteRecord => Object.freeze({ kind: 'deleteRecord' })

export const changeByPath = (
  bin: string,
  type: 'list' | 'map',
  levels: readonly PathLevel[],
  change: Expression,
  adds: boolean,
): Op.ChangeByPath => Object.freeze({ kind: 'changeByPath', bin, type, levels, change, adds })

export const rawRead = (bin: string, operation: object): Op.RawRead => ({ kind: 'rawRead', bin, operation })
export const rawWrite = (bin: string, operation: object, isIdempotent: boolean): Op.RawWrite => ({
  kind: 'rawWrite',
  bin,
  operation,
  isIdempotent,
})

export const listCreate = (bin: string, order: Op.Order, persistIndex: boolean): Op.ListCreate =>
  Object.freeze({ kind: 'listCreate', bin, order, persistIndex })
export const listAppend = (bin: string, values: readonly Value[], order: Op.Order, path?: Op.Path): Op.ListAppend =>
  Object.freeze({ kind: 'listAppend', bin, values, order, path })
export const listAppendUnique = (
  bin: string,
  values: readonly Value[],
  path?: Op.Path,
  order: Op.Order = 'ordered',
): Op.ListAppendUnique => Object.freeze({ kind: 'listAppendUnique', bin, values, order, path })
export const listRemoveValues = (
  bin: string,
  values: readonly Value[],
  returns: Op.Returns = 'none',
  path?: Op.Path,
): Op.ListRemoveValues => Object.freeze({ kind: 'listRemoveValues', bin, values, returns, path })
export const listRemoveIndexRange = (
  bin: string,
  index: number,
  count: number,
  returns: Op.Returns = 'none',
  path?: Op.Path,
): Op.ListRemoveIndexRange => Object.freeze({ kind: 'listRemoveIndexRange', bin, index, count, returns, path })
export const listRemoveRankRange = (bin: string, rank: number, count: number, path?: Op.Path): Op.ListRemoveRankRange =>
  Object.freeze({ kind: 'listRemoveRankRange', bin, rank, count, path })
export const listRemoveInterval = (
  bin: string,
  begin: Value,
  end: Value,
  keep = false,
  path?: Op.Path,
): Op.ListRemoveInterval => Object.freeze({ kind: 'listRemoveInterval', bin, begin, end, keep, path })
export const listRemoveFound = (bin: string, found: Omit<Op.ListRemoveFound, 'kind' | 'bin'>): Op.ListRemoveFound =>
  Object.freeze({ kind: 'listRemoveFound', bin, ...found })
export const listPutFound = (bin: string, found: Omit<Op.ListPutFound, 'kind' | 'bin'>): Op.ListPutFound =>
  Object.freeze({ kind: 'listPutFound', bin, ...found })
export const listSet = (bin: string, index: number, value: Value, path?: Op.Path): Op.ListSet =>
  Object.freeze({ kind: 'listSet', bin, index, value, path })
export const listInsert = (
  bin: string,
  index: number,
  values: readonly Value[],
  path?: Op.Path,
  unique = false,
): Op.ListInsert => Object.freeze({ kind: 'listInsert', bin, index, values, unique, path })
export const listIncrement = (bin: string, index: number, delta: Value, path?: Op.Path): Op.ListIncrement =>
  Object.freeze({ kind: 'listIncrement', bin, index, delta, path })
export const listClear = (bin: string, path?: Op.Path): Op.ListClear => Object.freeze({ kind: 'listClear', bin, path })
export const listSize = (bin: string, path?: Op.Path): Op.ListSize => Object.freeze({ kind: 'listSize', bin, path })
export const listGetIndexRange = (
  bin: string,
  index: number,
  count: number,
  returns: Op.Returns = 'value',
  path?: Op.Path,
): Op.ListGetIndexRange => Object.freeze({ kind: 'listGetIndexRange', bin, index, count, returns, path })
/** Answers with `returns: 'count'` or `'exists'` whether the list contains the value, without reading the list. */
export const listGetValues = (
  bin: string,
  values: readonly Value[],
  returns: Op.Returns = 'count',
  path?: Op.Path,
): Op.ListGetValues => Object.freeze({ kind: 'listGetValues', bin, values, returns, path })

export const mapCreate = (bin: string, order: Op.MapOrder, persistIndex: boolean): Op.MapCreate =>
  Object.freeze({ kind: 'mapCreate', bin, order, persistIndex })
export const mapPut = (bin: string, key: MapKey, value: Value, path?: Op.Path, subtype?: Op.MapSubtype): Op.MapPut =>
  Object.freeze({ kind: 'mapPut', bin, key, value, path, ...(subtype && { subtype }) })
export const mapPutItems = (
  bin: string,
  items: ReadonlyMap<MapKey, Value>,
  path?: Op.Path,
  subtype?: Op.MapSubtype,
): Op.MapPutItems => Object.freeze({ kind: 'mapPutItems', bin, items, path, ...(subtype && { subtype }) })
export const mapIncrement = (
  bin: string,
  key: MapKey,
  delta: Value,
  path?: Op.Path,
  subtype?: Op.MapSubtype,
): Op.MapIncrement => Object.freeze({ kind: 'mapIncrement', bin, key, delta, path, ...(subtype && { subtype }) })
export const mapRemoveKeys = (
  bin: string,
  keys: readonly MapKey[],
  returns: Op.Returns = 'none',
  path?: Op.Path,
): Op.MapRemoveKeys => Object.freeze({ kind: 'mapRemoveKeys', bin, keys, returns, path })
export const mapPutMissing = (
  bin: string,
  key: MapKey,
  value: Value,
  path?: Op.Path,
  subtype?: Op.MapSubtype,
): Op.MapPutMissing => Object.freeze({ kind: 'mapPutMissing', bin, key, value, path, ...(subtype && { subtype }) })
export const mapRemoveValues = (bin: string, values: readonly Value[], path?: Op.Path): Op.MapRemoveValues =>
  Object.freeze({ kind: 'mapRemoveValues', bin, values, path })
export const mapRemoveFound = (bin: string, within: string, keys: readonly MapKey[]): Op.MapRemoveFound =>
  Object.freeze({ kind: 'mapRemoveFound', bin, within, keys })
export const mapMove = (bin: string, moves: readonly Op.EntryMove[]): Op.MapMove =>
  Object.freeze({ kind: 'mapMove', bin, moves })
export const mapSetAside = (bin: string, from: string, key: MapKey, stamp: number): Op.MapSetAside =>
  Object.freeze({ kind: 'mapSetAside', bin, from, key, stamp })
export const mapRemoveBelow = (bin: string, end: Value, returns: Op.Returns): Op.MapRemoveBelow =>
  Object.freeze({ kind: 'mapRemoveBelow', bin, end, returns })
export const mapKeepRange = (bin: string, by: Op.MapKeepRange['by'], from: number, count: number): Op.MapKeepRange =>
  Object.freeze({ kind: 'mapKeepRange', bin, by, from, count })
export const mapClear = (bin: string, path?: Op.Path): Op.MapClear => Object.freeze({ kind: 'mapClear', bin, path })
export const mapSize = (bin: string, path?: Op.Path): Op.MapSize => Object.freeze({ kind: 'mapSize', bin, path })
export const mapGetKeys = (
  bin: string,
  keys: readonly MapKey[],
  returns: Op.Returns = 'keyValue',
  path?: Op.Path,
): Op.MapGetKeys => Object.freeze({ kind: 'mapGetKeys', bin, keys, returns, path })
export const mapGetKeyRange = (
  bin: string,
  begin: MapKey | null,
  end: MapKey | null,
  returns: Op.Returns = 'keyValue',
  path?: Op.Path,
): Op.MapGetKeyRange => Object.freeze({ kind: 'mapGetKeyRange', bin, begin, end, returns, path })
export const mapGetIndexRange = (
  bin: string,
  index: number,
  count: number,
  returns: Op.Returns = 'keyValue',
  path?: Op.Path,
): Op.MapGetIndexRange => Object.freeze({ kind: 'mapGetIndexRange', bin, index, count, returns, path })

/** Most levels of nested lists and maps that the server follows a path into. */
export const MAX_CONTEXTS = 15

/** A step into the map entry under `key`. */
export const atKey = (key: MapKey): Op.Step => Object.freeze({ in: 'mapKey', key })
/** A step into the map entry under `key`, which is made where there is none; so is the map itself, in the given order. */
export const atKeyCreated = (key: MapKey, order?: Op.MapOrder): Op.Step =>
  Object.freeze({ in: 'mapKey', key, create: true, ...(order === 'keyValue' && { order }) })
/** A step into the list item at `index`. */
export const atIndex = (index: number): Op.Step => Object.freeze({ in: 'listIndex', index })
