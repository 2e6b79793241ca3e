import type { MapKey, Value } from '../plan/value.js'
import { compareValues } from '../plan/value-order.js'

export type StoredEntry = readonly [key: MapKey, value: Value]
export interface SortableEntry {
  readonly stored: StoredEntry
  readonly shown: readonly [key: unknown, value: unknown]
}
export const byKey = ([a]: StoredEntry, [b]: StoredEntry): number => compareValues(a, b)
/** The server ranks entries of equal value by key. */
export const byValue = (a: StoredEntry, b: StoredEntry): number => compareValues(a[1], b[1]) || byKey(a, b)
