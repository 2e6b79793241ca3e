import type { MapSubtype, WriteOperation } from '../plan/operation.js'
import { mapIncrement, mapPut, mapPutItems, mapPutMissing, mapRemoveKeys, MAX_CONTEXTS } from '../plan/operations.js'
import type { MapKey, Value } from '../plan/value.js'
import { depthOf, under, underNew, type Place, type TypeCodec } from './type-codec.js'
import { encodeItem, isSameItem } from './types/item.js'
import { isUnsure } from './unsure-snapshots.js'
import { ValueProblem } from './value-problem.js'

/** Most new lists and maps in one map that are filled in place: each takes an operation of its own. */
const MOST_FRESH = 64

/** Gathers what changed in one stored map: one put of all new entries, one removal, and what goes deeper. */
export class MapChanges {
  readonly #place: Place
  readonly #subtype: MapSubtype | undefined
  readonly #puts = new Map<MapKey, Value>()
  readonly #missing = new Map<MapKey, Value>()
  readonly #removed: MapKey[] = []
  /** New entries that are changed from within. */
  #fresh = 0
  readonly #deeper: WriteOperation[] = []

  /** `subtype` is what a put gives to a map that is not there. */
  constructor(place: Place, subtype?: MapSubtype) {
    this.#place = place
    this.#subtype = depthOf(place) === 0 ? subtype : undefined
  }

  /** Writes a whole entry. */
  put(key: MapKey, stored: Value): void {
    this.#puts.set(key, stored)
  }

  /** Operations on what lies inside an entry. */
  change(operations: readonly WriteOperation[]): void {
    this.#deeper.push(...operations)
  }

  /** `snapshot` is undefined where there was no such entry. */
  compare(key: MapKey, codec: TypeCodec, value: unknown, snapshot: unknown): void {
    if (snapshot !== undefined && isSameItem(codec, value, snapshot)) return
    if (snapshot === undefined && this.#add(key, codec, value)) return
    const hadAndHas = value !== null && value !== undefined && snapshot !== undefined && snapshot !== null
    const isReached = depthOf(this.#place) < MAX_CONTEXTS
    if (hadAndHas && !isReached && codec.hasCounters === true) throw counterTooDeep()
    // A change further down than a path leads is written with the entry at that level.
    const deeper = hadAndHas && isReached ? codec.patch?.(value, snapshot, this.#within(key, snapshot)) : undefined
    if (deeper) this.#deeper.push(...deeper)
    else this.#puts.set(key, encodeItem(codec, value, depthOf(this.#place)))
  }

  #within(key: MapKey, snapshot: unknown): Place {
    return isUnsure(snapshot) ? underNew(this.#place, key, this.#subtype?.order) : under(this.#place, key)
  }

  /** Adds to an entry that was not there, so that what others have put into it meanwhile stays. False where it is put as a whole. */
  #add(key: MapKey, codec: TypeCodec, value: unknown): boolean {
    const isReached = depthOf(this.#place) < MAX_CONTEXTS
    if (codec.nothing === undefined || value === null || value === undefined || !isReached) return false
    if (++this.#fresh > MOST_FRESH) return false
    const added = codec.patch!(value, codec.nothing, underNew(this.#place, key, this.#subtype?.order))
    if (added !== undefined && added.length > 0) this.#deeper.push(...added)
    else this.#missing.set(key, encodeItem(codec, value, depthOf(this.#place)))
    return true
  }

  /** Adds to a counter, so that writers never overwrite each other. */
  increment(key: MapKey, delta: Value): void {
    this.#deeper.push(mapIncrement(this.#place.bin, key, delta, this.#place.path))
  }

  remove(key: MapKey): void {
    this.#removed.push(key)
  }

  operations(): readonly WriteOperation[] {
    const { bin, path } = this.#place
    const operations: WriteOperation[] = []
    if (this.#removed.length > 0) operations.push(mapRemoveKeys(bin, this.#removed, 'none', path))
    if (this.#puts.size === 1)
      for (const [key, value] of this.#puts) operations.push(mapPut(bin, key, value, path, this.#subtype))
    else if (this.#puts.size > 1) operations.push(mapPutItems(bin, this.#puts, path, this.#subtype))
    for (const [key, value] of this.#missing) operations.push(mapPutMissing(bin, key, value, path, this.#subtype))
    operations.push(...this.#deeper)
    return operations
  }
}

/** Written as a whole, it would undo what others have added. */
const counterTooDeep = (): ValueProblem =>
  new ValueProblem(
    `a counter deeper than ${MAX_CONTEXTS} levels cannot be added to`,
    'Store it flatter, or in a record of its own.',
  )
