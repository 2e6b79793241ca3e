import { compareValues } from '../value/compare.js'
import { Extreme, ListValue, MAP_KEY_ORDERED, MapValue, type Value } from '../value/value.js'

interface Comparison {
  /** A map that is not key ordered was met. */
  unordered: boolean
  /** A wildcard was met: it ends the comparison, and what was compared so far was equal. */
  ended: boolean
}

/**
 * The order of two lists or two maps, or undefined where it meets a map that is not key ordered: the server does not
 * compare those in expressions.
 */
export function compareContainers(a: Value, b: Value): number | undefined {
  const comparison = { unordered: false, ended: false }
  const order = compare(a, b, comparison)
  return comparison.unordered ? undefined : order
}

function compare(a: Value, b: Value, comparison: Comparison): number {
  if (isUnordered(a) || isUnordered(b)) comparison.unordered = true
  if (a === Extreme.WILDCARD || b === Extreme.WILDCARD) {
    comparison.ended = true
    return 0
  }
  if (a instanceof ListValue && b instanceof ListValue) {
    const order = compareAll(a.items, b.items, comparison)
    return order !== 0 || comparison.ended ? order : a.items.length - b.items.length
  }
  if (a instanceof MapValue && b instanceof MapValue) {
    if (a.keys.length !== b.keys.length) return a.keys.length - b.keys.length
    return compareAll(pairs(a), pairs(b), comparison)
  }
  return compareValues(a, b)
}

function compareAll(a: readonly Value[], b: readonly Value[], comparison: Comparison): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compare(a[i], b[i], comparison)
    if (order !== 0 || comparison.ended) return order
  }
  return 0
}

/** Keys and values in turn, as they stand in a map's wire form. */
function pairs(map: MapValue): Value[] {
  return map.keys.flatMap((key, i) => [key, map.values[i]])
}

function isUnordered(value: Value): boolean {
  return value instanceof MapValue && value.keys.length > 0 && (value.flags & MAP_KEY_ORDERED) === 0
}
