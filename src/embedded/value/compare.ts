import { Bytes, Extreme, Float, ListValue, MapValue, ParticleType, type Value } from './value.js'

/**
 * Aerospike's total order:
 * nil < false < true < integers < strings < lists < maps < bytes < doubles < geojson < infinity.
 * A wildcard equals everything, and everything that would have been compared after it.
 */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return order(a, b) || 0
}

/** NaN means that a wildcard was met: no further element counts, at any depth. */
function order(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a === b) return 0
  if (a === Extreme.WILDCARD || b === Extreme.WILDCARD) return NaN
  const rankA = orderRank(a)
  const rankB = orderRank(b)
  if (rankA !== rankB) return rankA - rankB
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (a instanceof ListValue) return compareLists(a, b as ListValue)
  if (a instanceof MapValue) return compareMaps(a, b as MapValue)
  if (a instanceof Float) return compareFloats(a.value, (b as Float).value)
  if (a instanceof Bytes && b instanceof Bytes) return a.tag - b.tag || Buffer.compare(a.bytes, b.bytes)
  if (a instanceof Bytes || b instanceof Bytes) return Buffer.compare(bytesOf(a), bytesOf(b))
  return (a as number | bigint) < (b as number | bigint) ? -1 : (a as number | bigint) > (b as number | bigint) ? 1 : 0
}

export function equalValues(a: Value, b: Value): boolean {
  return compareValues(a, b) === 0
}

function orderRank(value: Value): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 3
    case 'string':
      return 4
    case 'boolean':
      return value ? 2 : 1
  }
  if (value === null) return 0
  if (value instanceof ListValue) return 5
  if (value instanceof MapValue) return 6
  if (value instanceof Float) return 8
  if (value instanceof Bytes) {
    if (value.tag === ParticleType.STRING) return 4
    return value.tag === ParticleType.GEOJSON ? 9 : 7
  }
  return 10
}

function bytesOf(value: Value): Buffer {
  return value instanceof Bytes ? value.bytes : Buffer.from(value as string, 'utf8')
}

/** Orders by UTF-8 bytes, which differs from JavaScript's order only where surrogates meet U+E000 and above. */
function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return codePointWeight(x) - codePointWeight(y)
  }
  return a.length - b.length
}

function codePointWeight(unit: number): number {
  if (unit < 0xd800) return unit
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
}

function compareFloats(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  return 0
}

function compareLists(a: ListValue, b: ListValue): number {
  const length = Math.min(a.items.length, b.items.length)
  for (let i = 0; i < length; i++) {
    const difference = order(a.items[i], b.items[i])
    if (difference !== 0) return difference
  }
  return a.items.length - b.items.length
}

function compareMaps(a: MapValue, b: MapValue): number {
  if (a.keys.length !== b.keys.length) return a.keys.length - b.keys.length
  for (let i = 0; i < a.keys.length; i++) {
    const difference = order(a.keys[i], b.keys[i])
    if (difference !== 0) return difference
    const valueDifference = order(a.values[i], b.values[i])
    if (valueDifference !== 0) return valueDifference
  }
  return 0
}
