import type { MapOrder, Path, WriteOperation } from '../plan/operation.js'
import { atKey, atKeyCreated } from '../plan/operations.js'
import type { MapKey, Value } from '../plan/value.js'

/** Location of a value: a bin, or a path inside it. */
export interface Place {
  readonly bin: string
  /** Absent for the bin's own value. */
  readonly path?: Path
  /** Children of parts that are not taken out yet. */
  readonly keeps?: ReadonlySet<object>
}

export const depthOf = (place: Place): number => place.path?.length ?? 0

/** The place of the entry under that key of the map that lives here. */
export const under = (place: Place, key: MapKey): Place => ({
  ...place,
  path: [...(place.path ?? []), atKey(key)],
})

/** As `under`, for an entry that the first operation on it makes. `order` is that of the map, where that may be missing, too. */
export const underNew = (place: Place, key: MapKey, order?: MapOrder): Place => ({
  ...place,
  path: [...(place.path ?? []), atKeyCreated(key, order)],
})

/**
 * Stores, reads and compares the values of one declared type. None of these ever sees null or undefined: the caller has
 * dealt with them. `encode` and `decode` throw a ValueProblem.
 */
export interface TypeCodec {
  /** True for parts with counters of their own. */
  readonly hasCounters?: boolean
  /** For messages: 'int', 'list of string'. */
  readonly name: string
  /** `depth` counts nested parts: a circular one must not reach the client, which would crash. */
  encode(value: unknown, depth: number): Value
  decode(stored: Value): unknown
  /** A copy of the value that later changes of the value do not reach. The value is known to be storable. */
  snapshot(value: unknown): unknown
  same(value: unknown, snapshot: unknown): boolean
  /** Snapshot of a value that holds nothing. With it, `patch` adds to whatever others have stored meanwhile; absent: the value is written as a whole. */
  readonly nothing?: unknown
  /** Makes the bin where it is missing, and leaves what it holds as it is. */
  empty?(bin: string): WriteOperation
  /** True for parts, which are added to a map as a whole. */
  readonly isPart?: boolean
  /** Operations that change only what differs, or undefined where the value has to be written as a whole. */
  patch?(value: unknown, snapshot: unknown, place: Place): readonly WriteOperation[] | undefined
  /**
   * The snapshot after a write in doubt: what adds up (counters, appends) as it was sent, because it is never sent again; the rest as it was
   * known, because it is. Absent: all of it as it was known. Undefined stands for nothing that was known, and for nothing that adds up.
   */
  advanceAdded?(known: unknown, sent: unknown): unknown
  /** The snapshot after a write in doubt that was looked up: as `stored` where `known` and `sent` differ, otherwise as known. Absent: all of it as stored. */
  reread?(known: unknown, sent: unknown, stored: unknown): unknown
  /** Operations that store a value in a new record, for types that need more than a plain write. */
  create?(value: unknown, bin: string): readonly WriteOperation[]
}

/** Deeper than this is refused: the client crashes the process on very deep values. (The driver has a limit of its own, a little above.) */
export const MAX_DEPTH = 60
