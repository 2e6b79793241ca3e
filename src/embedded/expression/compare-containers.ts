import { compareValues } from '../value/compare.js'
import { ListValue, MAP_KEY_ORDERED, MapValue, type Value } from '../value/value.js'

/**
 * The order of two lists or two maps, or undefined where it meets a map that is not key ordered: the server does not
 * compare those in expressions.
 */
export function compareContainers(a: Value, b: Value): number | undefined {
  const seen = { unordered: false }
  const order = compare(a, b, seen)
  return seen.unordered ? undefined : order
}

function compare(a: Value, b: Value, seen: { unordered: boolean }): number {
  noteUnordered(a, seen)
  noteUnordered(b, seen)
  if (a instanceof ListValue && b instanceof ListValue) {
    const length = Math.min(a.items.length, b.items.length)
    for (let i = 0; i < length; i++) {
      const order = compare(a.items[i], b.items[i], seen)
      if (order !== 0) return order
    }
    return a.items.length - b.items.length
  }
  if (a instanceof MapValue && b instanceof MapValue) {
    if (a.keys.length !== b.keys.length) return a.keys.length - b.keys.length
    for (let i = 0; i < a.keys.length; i++) {
      const order = compare(a.keys[i], b.keys[i], seen) || compare(a.values[i], b.values[i], seen)
      if (order !== 0) return order
    }
    return 0
  }
  return compareValues(a, b)
}

function noteUnordered(value: Value, seen: { unordered: boolean }): void {
  if (value instanceof MapValue && value.keys.length > 0 && (value.flags & MAP_KEY_ORDERED) === 0) seen.unordered = true
}
