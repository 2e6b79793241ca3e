import { compareValues } from '../value/compare.js'
import type { Value } from '../value/value.js'
import { workOnOrder } from '../value/work-on.js'
import type { Span } from './span.js'

/** The first position in a sorted array whose value is not below `value`. */
export function lowerBound(sorted: readonly Value[], value: Value, from = 0): number {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareValues(sorted[middle], value) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The first position in a sorted array whose value is above `value`. */
export function upperBound(sorted: readonly Value[], value: Value, from = 0): number {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareValues(sorted[middle], value) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Position of `value` in a sorted array without duplicates, or -1 - the position where it would go. */
export function findSorted(sorted: readonly Value[], value: Value): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareValues(sorted[middle], value)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1 - low
}

/** All positions of a sorted array that equal `value`. */
export function equalSpan(sorted: readonly Value[], value: Value): Span {
  const start = lowerBound(sorted, value)
  return { start, count: upperBound(sorted, value, start) - start }
}

/** The positions of a sorted array from `begin` up to but without `end`; no end means to the last one. */
export function intervalSpan(sorted: readonly Value[], begin: Value, end: Value | undefined): Span {
  const start = lowerBound(sorted, begin)
  if (end === undefined) return { start, count: sorted.length - start }
  if (compareValues(begin, end) >= 0) return { start, count: 0 }
  return { start, count: lowerBound(sorted, end, start) - start }
}

/** Number of values below `value`: its rank where the array is not sorted. */
export function countBelow(values: readonly Value[], value: Value): number {
  let count = 0
  for (const other of values) if (compareValues(other, value) < 0) count++
  return count
}

export function sortedCopy(values: readonly Value[]): Value[] {
  workOnOrder(values)
  return values.slice().sort(compareValues)
}

/** The positions of an array in the order of their values; equal values stay in the order of their positions. */
export function sortedPositions(values: readonly Value[]): number[] {
  workOnOrder(values)
  return values.map((_, i) => i).sort((a, b) => compareValues(values[a], values[b]))
}
