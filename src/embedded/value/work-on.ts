import { requestBudget } from '../protocol/request-budget.js'
import { encodedSize } from './encoded-size.js'
import { Bytes, ListValue, MapValue, type Value } from './value.js'

/** A step is about as much work as so many bytes that are only compared or copied. */
const BYTES_PER_STEP = 3
/** Steps that one pass takes for an element of a list or map, measured on calls that select all of them. */
const STEPS_PER_ELEMENT = 4
/** References to elements that are copied in a step. */
const ELEMENTS_PER_STEP = 4

/** Counts one pass over a value against the budget of the request. */
export function workOn(value: Value): void {
  if (value instanceof ListValue)
    requestBudget.work(value.items.length * STEPS_PER_ELEMENT + encodedSize(value) / BYTES_PER_STEP)
  else if (value instanceof MapValue)
    requestBudget.work(value.keys.length * STEPS_PER_ELEMENT + encodedSize(value) / BYTES_PER_STEP)
  else if (value instanceof Bytes) requestBudget.work(value.bytes.length / BYTES_PER_STEP)
  else if (typeof value === 'string') requestBudget.work(value.length / BYTES_PER_STEP)
}

/** Counts a search by key or index, and the copy of the container that a change at that place makes. */
export function workOnPlace(value: Value): void {
  if (value instanceof ListValue) requestBudget.work(1 + value.items.length / ELEMENTS_PER_STEP)
  else if (value instanceof MapValue) requestBudget.work(1 + value.keys.length / ELEMENTS_PER_STEP)
}

/** Counts a search by key or index alone. */
export function workOnSearch(value: Value): void {
  const length = value instanceof ListValue ? value.items.length : value instanceof MapValue ? value.keys.length : 0
  requestBudget.work(1 + Math.log2(length + 1))
}

/** Counts `searches` for a place among values in order, each of which compares with one value per level of a tree. */
export function workOnOrder(values: readonly Value[], searches = values.length): void {
  if (values.length < 2) return
  requestBudget.work(searches * Math.log2(values.length) * comparisonCost(values))
}

/** Steps that comparing two of the values takes on average. */
function comparisonCost(values: readonly Value[]): number {
  let bytes = 0
  for (const value of values) bytes += encodedSize(value)
  return 1 + bytes / values.length / BYTES_PER_STEP
}
