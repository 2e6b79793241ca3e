import {
  bin,
  mapKeySlice,
  mapKeysFrom,
  mapValueSlice,
  mapValuesFrom,
  type Expression,
} from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import { readExpression } from '../../../plan/operations.js'
import type { Bins } from '../../../plan/command.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { compareKeys } from './key-order.js'

/** A stored part and the key that it is under. */
export interface StoredEntry {
  readonly place: MapKey
  readonly value: Value
}

const PLACES = '_sk.places'
const VALUES = '_sk.values'

/** Reads entries of a map of parts by their positions; the client would make text of the keys of a map. */
export const entriesAt = (name: string, index: number, count: number): readonly ReadOperation[] =>
  reading(mapKeySlice(bin('map', name), index, count), mapValueSlice(bin('map', name), index, count))

/** Reads the first entries after a place, and perhaps the one at that place; without one, the first. */
export function entriesFrom(name: string, place: MapKey | undefined, count: number): readonly ReadOperation[] {
  if (place === undefined) return entriesAt(name, 0, count)
  const map = bin('map', name)
  return reading(mapKeysFrom(map, place, count + 1), mapValuesFrom(map, place, count + 1))
}

const reading = (places: Expression, values: Expression): readonly ReadOperation[] => [
  readExpression(PLACES, places),
  readExpression(VALUES, values),
]

/** Entries that were read, in the order of their places. */
export function entriesIn(bins: Bins = {}): readonly StoredEntry[] {
  const places = (bins[PLACES] ?? []) as readonly MapKey[]
  const values = (bins[VALUES] ?? []) as readonly Value[]
  return places.map((place, i) => ({ place, value: values[i] }))
}

/** Entries after a place. */
export const entriesAfter = (entries: readonly StoredEntry[], place: MapKey | undefined): readonly StoredEntry[] =>
  place === undefined ? entries : entries.filter((entry) => compareKeys(entry.place, place) > 0)
