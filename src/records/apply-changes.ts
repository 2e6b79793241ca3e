import { tokenOf } from '../codec/index.js'
import { bug } from '../errors/index.js'
import type { Path, WriteOperation } from '../plan/operation.js'
import { DoubleValue, isDouble, type MapKey, type Value } from '../plan/value.js'
import { compareValues, entriesOf } from '../plan/value-order.js'
import { addNumbers } from './add-numbers.js'
import { isRemoval } from './change.js'
import { isWithin } from './interval.js'
import { insertAt, replaceAt } from './list-effects.js'
import { sliceOf } from './local-answers.js'

type BinChange = Extract<WriteOperation, { readonly bin: string }>
type ListChange = Extract<BinChange, { readonly kind: `list${string}` }>
type MapChange = Extract<BinChange, { readonly kind: `map${string}` }>

/** A map that changes are applied to, by the tokens of its keys. */
class OpenMap {
  readonly entries: Map<unknown, [key: MapKey, value: Open | undefined]>

  constructor(stored?: Value) {
    const all = stored === undefined ? [] : entriesOf(stored)
    this.entries = new Map(all.map(([key, value]) => [tokenOf(key), [key, value]]))
  }

  get(key: MapKey): Open | undefined {
    return this.entries.get(tokenOf(key))?.[1]
  }

  set(key: MapKey, value: Open): void {
    this.entries.set(tokenOf(key), [key, value])
  }
}

/** A list that changes are applied to. */
class OpenList {
  constructor(readonly items: Value[]) {}
}

/** A stored value, or a list or map of which a copy was made to be changed. */
type Open = Value | OpenMap | OpenList

/** Applies changes to the stored value of a bin as the server would; a change that the server would refuse has no effect. */
export function applyChanges(stored: Value | undefined, changes: readonly BinChange[]): Value | undefined {
  // Makes the value of the bin an entry like any other.
  const root = new OpenMap()
  if (stored !== undefined && stored !== null) root.set('', stored)
  for (const change of changes) applyOne(root, change)
  const changed = root.get('')
  return changed === undefined ? undefined : closed(changed)
}

function applyOne(root: OpenMap, change: BinChange): void {
  if (change.kind === 'writeBin') return root.set('', change.value)
  if (change.kind === 'removeBin') return void root.entries.clear()
  const path: Path = ('path' in change ? change.path : undefined) ?? []
  const found = parentOf(root, path, !isRemoval(change))
  if (found === undefined) return
  const [parent, key] = found
  // The server takes nothing out of what is not there, and makes nothing for it.
  if (parent.get(key) === undefined && isRemoval(change)) return
  if (isListChange(change)) {
    const list = listIn(parent, key)
    if (list !== undefined) changeList(list, change)
  } else {
    const map = mapIn(parent, key)
    if (map !== undefined) changeMap(map, change as MapChange)
  }
}

const isListChange = (change: BinChange): change is ListChange => change.kind.startsWith('list')

/** The map with the list or map that a path leads to, and its key there. */
function parentOf(root: OpenMap, path: Path, makes: boolean): [OpenMap, MapKey] | undefined {
  let [parent, key]: [OpenMap, MapKey] = [root, '']
  for (const step of path) {
    if (step.in !== 'mapKey') throw bug(`a handle has no step of kind ${step.in}.`)
    const isMade = makes && step.create === true
    const map: OpenMap | undefined = isMade || parent.get(key) !== undefined ? mapIn(parent, key) : undefined
    if (map === undefined || (!isMade && map.get(step.key) === undefined)) return undefined
    ;[parent, key] = [map, step.key]
  }
  return [parent, key]
}

/** The map under a key, made where there is none; undefined where there is something else. */
function mapIn(parent: OpenMap, key: MapKey): OpenMap | undefined {
  const value = parent.get(key)
  if (value instanceof OpenMap) return value
  if (value !== undefined && !isStoredMap(value)) return undefined
  const map = new OpenMap(value as Value | undefined)
  parent.set(key, map)
  return map
}

function listIn(parent: OpenMap, key: MapKey): OpenList | undefined {
  const value = parent.get(key)
  if (value instanceof OpenList) return value
  if (value !== undefined && !Array.isArray(value)) return undefined
  const list = new OpenList([...((value ?? []) as readonly Value[])])
  parent.set(key, list)
  return list
}

const isStoredMap = (value: Open): boolean =>
  value instanceof Map ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)

function changeList({ items }: OpenList, change: ListChange): void {
  const missing = (values: readonly Value[]): Value[] =>
    values.filter((value, i) => ![...items, ...values.slice(0, i)].some((each) => compareValues(each, value) === 0))
  const isInside = (index: number): boolean => index >= -items.length
  switch (change.kind) {
    case 'listAppend':
    case 'listAppendUnique':
      for (const value of change.kind === 'listAppend' ? change.values : missing(change.values)) items.push(value)
      if (change.order === 'ordered') items.sort(compareValues)
      return
    case 'listInsert':
      if (isInside(change.index)) insertAt(items, change.index, change.unique ? missing(change.values) : change.values)
      return
    case 'listSet':
      if (isInside(change.index)) replaceAt(items, change.index, () => change.value)
      return
    case 'listIncrement':
      if (isInside(change.index)) replaceAt(items, change.index, (item) => sum(item as Value, change.delta))
      return
    case 'listRemoveValues':
      return keep(items, (item) => !change.values.some((value) => compareValues(value, item) === 0))
    case 'listRemoveIndexRange':
      return removeAt(items, sliceOf([...items.keys()], change.index, change.count))
    case 'listRemoveRankRange': {
      const byRank = [...items.keys()].sort((a, b) => compareValues(items[a], items[b]))
      return removeAt(items, sliceOf(byRank, change.rank, change.count))
    }
    case 'listRemoveInterval':
      return keep(items, (item) => isWithin(item, change.begin, change.end) === change.keep)
    case 'listClear':
      items.length = 0
      return
    case 'listCreate':
      return
    default:
      throw bug(`a change of kind ${change.kind} cannot be shown.`)
  }
}

function changeMap(map: OpenMap, change: MapChange): void {
  switch (change.kind) {
    case 'mapPut':
      return map.set(change.key, change.value)
    case 'mapPutMissing':
      if (map.get(change.key) === undefined) map.set(change.key, change.value)
      return
    case 'mapPutItems':
      for (const [key, value] of change.items) map.set(key, value)
      return
    case 'mapIncrement':
      return map.set(change.key, sum(map.get(change.key) as Value | undefined, change.delta))
    case 'mapRemoveKeys':
      for (const key of change.keys) map.entries.delete(tokenOf(key))
      return
    case 'mapClear':
      return map.entries.clear()
    case 'mapCreate':
      return
    default:
      throw bug(`a change of kind ${change.kind} cannot be shown.`)
  }
}

function keep(items: Value[], isKept: (item: Value) => boolean): void {
  items.splice(0, Infinity, ...items.filter(isKept))
}

function removeAt(items: Value[], indexes: readonly number[]): void {
  const removed = new Set(indexes)
  let i = 0
  keep(items, () => !removed.has(i++))
}

function sum(value: Value | undefined, delta: Value): Value {
  if (isDouble(value) || isDouble(delta)) return new DoubleValue(numberOf(value) + numberOf(delta))
  return addNumbers(value, delta as number | bigint)
}

const numberOf = (value: Value | undefined): number => (isDouble(value) ? value.value : Number(value ?? 0))

function closed(value: Open): Value {
  if (value instanceof OpenList) return value.items
  if (!(value instanceof OpenMap)) return value
  return new Map([...value.entries.values()].map(([key, each]) => [key, closed(each!)]))
}
