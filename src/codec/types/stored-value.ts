import { types } from 'node:util'
import { isInt64 } from '../../keys/index.js'
import { isDouble, isGeo, type MapKey, type Value } from '../../plan/value.js'
import { MAX_DEPTH } from '../type-codec.js'
import { ValueProblem, fieldStep, indexStep, keyStep, shown, throwUnder } from '../value-problem.js'
import { isSafeText } from '../../keys/index.js'
import { encodeNumber } from './scalar-types.js'

/**
 * A copy of the value as the client stores and returns it unharmed. Throws a ValueProblem, with its path, for what the client
 * would silently change, drop or crash on. Map objects pass only where `maps` says that somebody turns them back.
 */
export function encodeFreely(value: unknown, maps: boolean, depth = 0): Value {
  switch (typeof value) {
    case 'string':
      return checkText(value, 'string')
    case 'boolean':
      return value
    case 'number':
      return encodeNumber(value)
    case 'bigint':
      return checkBigint(value)
    case 'object':
      return value === null ? null : encodeObject(value, maps, depth)
    default:
      throw destroyed(value)
  }
}

function encodeObject(value: object, maps: boolean, depth: number): Value {
  if (depth >= MAX_DEPTH) {
    throw new ValueProblem(
      `the value is circular or deeper than ${MAX_DEPTH} levels`,
      'Store it flatter, or in records of its own.',
    )
  }
  if (Array.isArray(value)) return encodeArray(value, maps, depth)
  if (types.isUint8Array(value)) return Buffer.from(value)
  if (isPlainObject(value)) return encodePlainObject(value, maps, depth)
  if (maps && types.isMap(value)) return encodeMap(value, depth)
  throw destroyed(value)
}

function encodeArray(value: readonly unknown[], maps: boolean, depth: number): Value {
  const list: Value[] = []
  for (let i = 0; i < value.length; i++) {
    try {
      list.push(encodeFreely(value[i], maps, depth + 1))
    } catch (error) {
      throwUnder(indexStep(i), error)
    }
  }
  return list
}

function encodePlainObject(value: object, maps: boolean, depth: number): Value {
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new ValueProblem('the client drops properties named by a symbol', 'Name them by strings.')
  }
  const map: Record<string, Value> = {}
  for (const [name, item] of Object.entries(value)) {
    // Undefined properties are left out, as in JSON.
    if (item === undefined) continue
    try {
      map[checkMapKey(name)] = encodeFreely(item, maps, depth + 1)
    } catch (error) {
      throwUnder(fieldStep(name), error)
    }
  }
  return map
}

function encodeMap(value: ReadonlyMap<unknown, unknown>, depth: number): Value {
  const map = new Map<MapKey, Value>()
  for (const [key, item] of value) {
    try {
      map.set(checkFreeMapKey(key), encodeFreely(item, true, depth + 1))
    } catch (error) {
      throwUnder(keyStep(key), error)
    }
  }
  return map
}

function checkFreeMapKey(key: unknown): MapKey {
  if (typeof key === 'string') return checkMapKey(key)
  if (Number.isSafeInteger(key) || types.isUint8Array(key)) return key as number | Uint8Array
  if (typeof key === 'bigint' && isInt64(key)) return key
  throw new ValueProblem(
    `the client drops ${shown(key)} as a map key`,
    'Use strings, integers, bigints or Buffers as keys.',
  )
}

/** A string key of a map that comes back under the same name. */
export function checkMapKey(key: string): string {
  if (key === '__proto__') {
    throw new ValueProblem("the client loses a map key called '__proto__' when it reads it", 'Use another key.')
  }
  return checkText(key, 'map key')
}

function checkText(text: string, what: string): string {
  if (isSafeText(text)) return text
  const inside = text.includes('\0')
    ? 'NUL, where the client would cut it'
    : 'half of a surrogate pair, which cannot be stored'
  throw new ValueProblem(`the ${what} contains ${inside}`, 'Remove it, or store the text as a Buffer.')
}

function checkBigint(value: bigint): bigint {
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
  if (isInt64(value) && !isSafe) return value
  throw isSafe
    ? new ValueProblem(
        `${value}n would come back as a number`,
        "Store a number here, or declare a property of type 'bigint'.",
      )
    : new ValueProblem(`${value}n does not fit 64 bits`, 'Store it as a string.')
}

function destroyed(value: unknown): ValueProblem {
  const what = typeof value === 'undefined' ? 'undefined' : typeof value === 'symbol' ? 'a symbol' : shown(value)
  return new ValueProblem(
    `the client cannot store ${what} and bring it back`,
    'Use null, booleans, numbers, strings, Buffers, arrays and plain objects, or declare a type or a codec of your own.',
  )
}

/** True also for plain objects of another realm, as test runners make them. */
function isPlainObject(value: object): boolean {
  const proto = Object.getPrototypeOf(value) as object | null
  if (proto === null || proto === Object.prototype) return true
  return Object.getPrototypeOf(proto) === null && Object.hasOwn(proto, 'isPrototypeOf')
}

/** A deep copy of a value that `encodeFreely` accepts. */
export function copyStored(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyStored)
  if (types.isUint8Array(value)) return Buffer.from(value)
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) copy[name] = copyStored(item)
  return copy
}

/** Compares two stored values; undefined properties count as missing. */
export function isSameStored(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isDouble(a) || isDouble(b)) return isDouble(a) && isDouble(b) && Object.is(a.value, b.value)
  if (isGeo(a) || isGeo(b)) return isGeo(a) && isGeo(b) && a.json === b.json
  if (Array.isArray(a)) return Array.isArray(b) && isSameArray(a, b)
  if (types.isUint8Array(a)) return types.isUint8Array(b) && Buffer.compare(a, b) === 0
  if (types.isMap(a))
    return (
      types.isMap(b) && a.size === b.size && [...a].every(([key, item]) => b.has(key) && isSameStored(item, b.get(key)))
    )
  return (
    isPlainObject(a) && isPlainObject(b) && isSameObject(a as Record<string, unknown>, b as Record<string, unknown>)
  )
}

// By index: every() would skip the holes of a sparse array.
function isSameArray(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!isSameStored(a[i], b[i])) return false
  return true
}

function isSameObject(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const names = Object.keys(a)
  return (
    names.every((name) => isSameStored(a[name], Object.hasOwn(b, name) ? b[name] : undefined)) &&
    Object.keys(b).every((name) => b[name] === undefined || Object.hasOwn(a, name))
  )
}
