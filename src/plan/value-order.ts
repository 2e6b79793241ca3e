import { isDouble, isGeo, type MapKey, type Value } from './value.js'

export type Entries = readonly (readonly [MapKey, Value])[]

/** True for a stored map, in either of its forms. */
export const isMap = (value: Value | undefined): boolean => value !== undefined && rankOf(value) === MAP_RANK

export function entriesOf(map: Value): Entries {
  return map instanceof Map
    ? [...(map as ReadonlyMap<MapKey, Value>)]
    : Object.entries(map as { readonly [key: string]: Value })
}

const MAP_RANK = 5

// The order of types on the server.
function rankOf(value: Value): number {
  if (value === null) return 0
  if (typeof value === 'boolean') return 1
  if (isDouble(value) || (typeof value === 'number' && !Number.isInteger(value))) return 7
  if (isGeo(value)) return 8
  if (typeof value === 'number' || typeof value === 'bigint') return 2
  if (typeof value === 'string') return 3
  if (Array.isArray(value)) return 4
  return value instanceof Uint8Array ? 6 : MAP_RANK
}

/** Compares two stored values in the order that the server gives them. */
export function compareValues(a: Value, b: Value): number {
  const types = rankOf(a) - rankOf(b)
  if (types !== 0) return types
  if (typeof a === 'string') return compareTexts(a, b as string)
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  if (Array.isArray(a)) return compareLists(a as readonly Value[], b as readonly Value[])
  if (isGeo(a)) return compareTexts(a.json, (b as typeof a).json)
  if (typeof a === 'object' && a !== null && !isDouble(a)) return compareMaps(a, b)
  const [left, right] = [numberOf(a), numberOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Compares by UTF-8 bytes, which is the order of code units but for surrogate pairs. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === length) return a.length - b.length
  const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)]
  return left < 0xd800 && right < 0xd800 ? left - right : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

// Numbers and bigints compare with each other without loss.
const numberOf = (value: Value): number | bigint => (isDouble(value) ? value.value : (value as number | bigint))

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareMaps(a: Value, b: Value): number {
  const [left, right] = [entriesOf(a), entriesOf(b)].map((entries) =>
    entries.toSorted(([x], [y]) => compareValues(x, y)).flat(),
  )
  return left.length !== right.length ? left.length - right.length : compareLists(left, right)
}
