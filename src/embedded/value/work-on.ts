import { requestBudget } from '../protocol/request-budget.js'
import { encodedSize } from './encoded-size.js'
import { Bytes, ListValue, MapValue, type Value } from './value.js'

/** A step is about as much work as so many bytes that are only compared or copied. */
const BYTES_PER_STEP = 8

/** Counts one pass over a value against the budget of the request. */
export function workOn(value: Value): void {
  if (value instanceof ListValue) requestBudget.work(value.items.length + encodedSize(value) / BYTES_PER_STEP)
  else if (value instanceof MapValue) requestBudget.work(value.keys.length + encodedSize(value) / BYTES_PER_STEP)
  else if (value instanceof Bytes) requestBudget.work(value.bytes.length / BYTES_PER_STEP)
  else if (typeof value === 'string') requestBudget.work(value.length / BYTES_PER_STEP)
}
