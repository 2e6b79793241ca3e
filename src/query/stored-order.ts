import { compareDigests } from '../driver/query-position.js'
import type { FoundRecord } from '../plan/outcome.js'
import { isDouble, type Value } from '../plan/value.js'
import type { Field } from './field.js'

export type Direction = 'asc' | 'desc'

/** A property to sort by. */
export interface SortBy {
  readonly field: Field
  readonly direction: Direction
}

/** A value as it is compared; null where nothing is stored. */
export type SortValue = string | number | bigint | boolean | Uint8Array | null

/** Position of a record in the order: its values, and its digest where these are equal. */
export interface SortPosition {
  readonly values: readonly SortValue[]
  readonly digest: Uint8Array
}

export function sortPosition(record: FoundRecord, order: readonly SortBy[]): SortPosition {
  return { values: order.map(({ field }) => sortValue(storedIn(record, field))), digest: record.digest }
}

/** Value of a field in the record; undefined where nothing is stored. */
export function storedIn({ bins }: FoundRecord, { bin, steps }: Field): Value | undefined {
  let value: Value | undefined = bins[bin]
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    value =
      value instanceof Map ? (value as Map<unknown, Value>).get(step) : (value as Record<string, Value>)[String(step)]
  }
  return value ?? undefined
}

function sortValue(stored: Value | undefined): SortValue {
  if (stored === undefined || stored === null) return null
  if (isDouble(stored)) return stored.value
  if (typeof stored === 'object' && !(stored instanceof Uint8Array)) return null
  return stored
}

/** The order of two records; equal only for one and the same. */
export function comparePositions(a: SortPosition, b: SortPosition, order: readonly SortBy[]): number {
  for (const [i, { direction }] of order.entries()) {
    const result = compareSorted(a.values[i], b.values[i], direction)
    if (result !== 0) return result
  }
  return compareDigests(a.digest, b.digest)
}

/** Missing values come last, in both directions. */
function compareSorted(a: SortValue, b: SortValue, direction: Direction): number {
  if (isLast(a) || isLast(b)) return Number(isLast(a)) - Number(isLast(b))
  const result = compareValues(a!, b!)
  return direction === 'asc' ? result : -result
}

const isLast = (value: SortValue): boolean => value === null || Number.isNaN(value)

function compareValues(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (typeof a === 'string' && typeof b === 'string')
    return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}
