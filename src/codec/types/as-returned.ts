import { types } from 'node:util'
import { isDouble, isGeo, type Value } from '../../plan/value.js'

/** A stored value as the client gives it back: maps as objects with string keys, doubles and small integers as numbers. */
export function asReturned(value: Value): Value {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value !== 'object' || value === null || types.isUint8Array(value)) return value
  if (isDouble(value)) return value.value
  if (isGeo(value)) return value.json
  if (Array.isArray(value)) return (value as readonly Value[]).map(asReturned)
  const entries = types.isMap(value) ? (value as ReadonlyMap<unknown, Value>) : Object.entries(value as object)
  return Object.fromEntries([...entries].map(([key, item]) => [keyText(key), asReturned(item as Value)]))
}

const keyText = (key: unknown): string => (types.isUint8Array(key) ? Buffer.from(key).toString() : String(key))
