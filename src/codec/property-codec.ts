import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import type { MapKey, Value } from '../plan/value.js'

/** Entries of a map, or fields of a part or JSON object, that were read. */
export interface LoadedEntries {
  readonly kind: 'entries'
  /** Keys as stored. */
  readonly keys: ReadonlySet<MapKey>
  /** Names of the fields of a part; absent for maps and JSON objects. */
  readonly fields?: ReadonlySet<string>
}

/** Items of a list that were read, by position. */
export interface LoadedSlice {
  readonly kind: 'slice'
  readonly offset: number
  readonly count: number
}

/** The share of a property that was read. */
export type LoadedPart = LoadedEntries | LoadedSlice

/** The properties that were loaded in whole, and the share that was read of others. */
export interface LoadedSet extends ReadonlySet<string> {
  readonly parts?: ReadonlyMap<string, LoadedPart>
}

/** The properties that were loaded; undefined when all of them were. */
export type Loaded = LoadedSet | undefined

export function loadedSet(names: Iterable<string>, parts?: ReadonlyMap<string, LoadedPart>): LoadedSet {
  const loaded = new Set(names)
  return parts === undefined || parts.size === 0 ? loaded : Object.assign(loaded, { parts })
}

/** Bins while they are being gathered. */
export type MutableBins = Record<string, Value>

/**
 * Codec of a property of an entity (or a field of a part): reads it from the stored bins, writes and compares it. Here null
 * and undefined are dealt with: both mean that there is no bin.
 */
export interface PropertyCodec {
  /** Name of the property on the class. */
  readonly name: string
  /** Bins (or keys of the part's map) that hold it. */
  readonly bins: readonly string[]
  /** Kind of value that generated code handles inline; `other` leaves everything to these methods. */
  readonly inline: InlineKind
  /** False for what the mapper itself writes (version and times): a difference is not a change. */
  readonly isCompared: boolean
  /** False for a ref, which is stored with its part but put on the instance by whoever knows the session. */
  readonly isAssigned: boolean
  /** True when storing it in a new record is writing its bins and nothing more. */
  readonly isPlain: boolean
  decode(bins: Bins, loaded: Loaded): unknown
  encodeInto(bins: MutableBins, value: unknown, depth: number): void
  snapshot(value: unknown): unknown
  same(value: unknown, snapshot: unknown): boolean
  /** The snapshot with what these bins hold now of that which `sent` has changed. */
  reread(snapshot: unknown, sent: unknown, stored: Bins, bins: ReadonlySet<string>): unknown
  /** The snapshot after a write in doubt that adds to one of these bins. */
  advanceAdded(known: unknown, sent: unknown, bins: ReadonlySet<string>): unknown
  /** The operations that turn what the snapshot shows into the value. */
  change(value: unknown, snapshot: unknown): readonly WriteOperation[]
  /** Adds the operations that store the value in a new record. */
  create(operations: WriteOperation[], value: unknown): void
}

/** A property that lives in exactly one bin. */
export interface SingleBin extends PropertyCodec {
  readonly bin: string
  /** Undefined when there is nothing to store. */
  encode(value: unknown, depth: number): Value | undefined
}

export type InlineKind = 'int' | 'double' | 'string' | 'boolean' | 'bigint' | 'date' | 'single' | 'other'

export const isSingleBin = (property: PropertyCodec): property is SingleBin => property.inline !== 'other'

export const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined
