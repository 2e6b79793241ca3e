import type { Path, WriteOperation } from '#src/plan/operation.js'
import type { MapKey, Value } from '#src/plan/value.js'
import { isSameStored } from '#src/codec/types/stored-value.js'

type Container = Map<MapKey, Value> | Value[]

/** Runs operations on bins in memory, as a server would: what codecs emit is judged by what it does. */
export function applyOperations(
  bins: ReadonlyMap<string, Value>,
  operations: readonly WriteOperation[],
): Map<string, Value> {
  const result = new Map([...bins].map(([bin, value]) => [bin, thaw(value)]))
  for (const operation of operations) apply(result, operation)
  return result
}

/** Bins as a Map, with every map in them a Map too. */
export const toStore = (bins: object): Map<string, Value> =>
  new Map(Object.entries(bins).map(([bin, value]) => [bin, thaw(value as Value)]))

function thaw(value: Value): Value {
  if (Array.isArray(value)) return (value as readonly Value[]).map(thaw)
  if (value instanceof Map)
    return new Map([...(value as ReadonlyMap<MapKey, Value>)].map(([key, item]) => [key, thaw(item)]))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return new Map(Object.entries(value as object).map(([key, item]) => [key, thaw(item as Value)]))
}

function apply(bins: Map<string, Value>, operation: WriteOperation): void {
  switch (operation.kind) {
    case 'writeBin':
      bins.set(operation.bin, thaw(operation.value))
      return
    case 'removeBin':
      bins.delete(operation.bin)
      return
    case 'addToBin':
      bins.set(operation.bin, add(bins.get(operation.bin), operation.delta))
      return
    case 'listCreate':
      if (!bins.has(operation.bin)) bins.set(operation.bin, [])
      return
    case 'mapCreate':
      if (!bins.has(operation.bin)) bins.set(operation.bin, new Map())
      return
    case 'listAppend':
      at<Value[]>(bins, operation, []).push(...operation.values.map(thaw))
      return
    case 'listAppendUnique': {
      const list = at<Value[]>(bins, operation, [])
      for (const value of operation.values) if (!list.some((item) => isSameStored(item, value))) list.push(thaw(value))
      return
    }
    case 'listRemoveValues': {
      const list = at<Value[]>(bins, operation, [])
      const kept = list.filter((item) => !operation.values.some((value) => isSameStored(thaw(value), item)))
      list.splice(0, list.length, ...kept)
      return
    }
    case 'mapPut':
      at<Map<MapKey, Value>>(bins, operation, new Map()).set(operation.key, thaw(operation.value))
      return
    case 'mapPutMissing': {
      const map = at<Map<MapKey, Value>>(bins, operation, new Map())
      if (!map.has(operation.key)) map.set(operation.key, thaw(operation.value))
      return
    }
    case 'mapPutItems':
      for (const [key, value] of operation.items)
        at<Map<MapKey, Value>>(bins, operation, new Map()).set(key, thaw(value))
      return
    case 'mapRemoveKeys':
      for (const key of operation.keys) at<Map<MapKey, Value>>(bins, operation, new Map()).delete(key)
      return
    default:
      throw new Error(`codecs do not emit ${operation.kind}`)
  }
}

/** The container that an operation works on. The bin's own is made when missing; a step down makes one only if it says so. */
function at<C extends Container>(
  bins: Map<string, Value>,
  { bin, path }: { readonly bin: string; readonly path?: Path },
  empty: C,
): C {
  const steps = path ?? []
  const isMade = (i: number): boolean => i === steps.length || (steps[i].in === 'mapKey' && steps[i].create === true)
  const made = (i: number): Container => (i === steps.length ? empty : new Map<MapKey, Value>())
  if (!bins.has(bin) && isMade(0)) bins.set(bin, made(0))
  let value = bins.get(bin)
  for (const [i, step] of steps.entries()) {
    const map = value as Map<MapKey, Value>
    if (step.in === 'mapKey' && map instanceof Map && !map.has(step.key) && step.create === true)
      map.set(step.key, made(i + 1))
    if (step.in !== 'mapKey' || !(map instanceof Map) || !map.has(step.key))
      throw new Error('26: nothing at the context')
    value = map.get(step.key)
  }
  if (Array.isArray(empty) ? !Array.isArray(value) : !(value instanceof Map))
    throw new Error('12: another type at the context')
  return value as C
}

function add(value: Value | undefined, delta: Value): Value {
  const [a, b] = [value ?? 0, delta].map((each) =>
    typeof each === 'object' ? (each as { value: number }).value : (each as number),
  )
  return typeof a === 'bigint' || typeof b === 'bigint' ? BigInt(a) + BigInt(b) : a + b
}
