import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import type { MapKey, Value } from '../plan/value.js'
import type { BinProperty } from './bin-property.js'
import { MapChanges } from './map-changes.js'
import { readProperty, writeProperty } from './own-property.js'
import type { PartCodec } from './part-codec.js'
import {
  isMissing,
  type Loaded,
  type LoadedEntries,
  type LoadedPart,
  type LoadedSlice,
  type PropertyCodec,
} from './property-codec.js'
import { textOf } from './types/byte-keyed-map.js'
import { jsonType } from './types/json-type.js'
import { storedMap } from './types/map-type.js'
import { tokenOf } from './types/token.js'

/** Reason why a change of a property that was read in part cannot be sent. */
export interface PartRefusal {
  readonly why: string
  readonly fix: string
}

/** Refusal to read more of a property whose snapshot would then hide its unsent changes. */
export const UNSENT: PartRefusal = {
  why: 'no more of it can be read while it has unsent changes',
  fix: 'Flush or refresh the entity first.',
}

const readWhole = 'Load the whole property first, or change it through session.at().'

/** Operations that change only entries and items, never the whole value: what was not read stays as it is stored. */
export function changeOfPart(
  part: LoadedPart,
  { bin, codec }: BinProperty,
  value: unknown,
  snapshot: unknown,
): readonly WriteOperation[] | PartRefusal {
  if (isMissing(value)) return { why: 'it cannot be removed', fix: readWhole }
  if (part.kind === 'slice') {
    const isEnd = part.offset < 0 && part.offset + part.count === 0
    const appended = isEnd ? codec.patch?.(value, snapshot ?? [], { bin }) : undefined
    return appended ?? { why: isEnd ? 'items can only be appended' : 'it cannot be changed', fix: readWhole }
  }
  if (codec === jsonType) return changeOfObject(bin, value, snapshot ?? {})
  const before = snapshot ?? codec.snapshot(part.fields === undefined ? new Map() : {})
  const { fields } = part
  const changes = codec.patch!(value, before, { bin })!
  const unread = fields === undefined ? undefined : changes.flatMap(keysOf).find((key) => !part.keys.has(key))
  return unread === undefined ? changes : { why: `its field '${String(unread)}' was not read`, fix: readWhole }
}

/** Keys of the bin's own map that an operation changes. */
function keysOf(operation: WriteOperation): readonly MapKey[] {
  if ('path' in operation && operation.path !== undefined && operation.path.length > 0) {
    const [first] = operation.path
    return first.in === 'mapKey' ? [first.key] : []
  }
  if (operation.kind === 'mapRemoveKeys') return operation.keys
  if (operation.kind === 'mapPutItems') return [...operation.items.keys()]
  const isPut = operation.kind === 'mapPut' || operation.kind === 'mapPutMissing'
  return isPut || operation.kind === 'mapIncrement' ? [operation.key] : []
}

function changeOfObject(bin: string, value: unknown, snapshot: object): readonly WriteOperation[] | PartRefusal {
  if (typeof value !== 'object' || Array.isArray(value)) return { why: 'it is no longer an object', fix: readWhole }
  const changes = new MapChanges({ bin })
  const [now, before] = [entriesOf(value as object), entriesOf(snapshot)]
  for (const [key, member] of now) changes.compare(key, jsonType, member, before.get(key))
  for (const key of before.keys()) if (!now.has(key)) changes.remove(key)
  return changes.operations()
}

const entriesOf = (object: object): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(object).filter(([, member]) => member !== undefined))

export const isRefusal = (change: readonly WriteOperation[] | PartRefusal): change is PartRefusal => 'why' in change

/** The stored bins with only those entries of one that were read, or that the snapshot knows. */
export function onlyEntries({ bin }: BinProperty, stored: Bins, { keys, fields }: LoadedEntries, known: unknown): Bins {
  const value = readProperty(stored, bin) as Value | undefined
  if (isMissing(value)) return stored
  const names = known instanceof Map ? known.keys() : fields === undefined ? Object.keys(known ?? {}) : []
  const wanted = new Set([...keys, ...names].map(keyText))
  // Only a map with bytes as keys comes as a Map.
  if (value instanceof Map) {
    const read = [...(value as ReadonlyMap<MapKey, Value>)].filter(([key]) => wanted.has(keyText(key)))
    return { ...stored, [bin]: new Map(read) }
  }
  const entries = Object.entries(storedMap(value)).filter(([key]) => wanted.has(key))
  return { ...stored, [bin]: Object.fromEntries(entries) }
}

const keyText = (key: unknown): string => (key instanceof Uint8Array ? textOf(key) : String(key))

/** True when everything of `want` was read with `have`. */
export function isPartCovered(have: LoadedPart | undefined, want: LoadedPart): boolean {
  if (have === undefined || have.kind !== want.kind) return false
  if (have.kind === 'slice' || want.kind === 'slice') {
    const both = have.kind === 'slice' && want.kind === 'slice' ? spanOf(have, want) : undefined
    return both?.begin === (have as LoadedSlice).offset && both.end === endOf(have as LoadedSlice)
  }
  const known = new Set([...have.keys].map(tokenOf))
  return [...want.keys].every((key) => known.has(tokenOf(key)))
}

/** Joins two parts that were read; undefined where only the whole property holds both. */
export function joinParts(one: LoadedPart, other: LoadedPart): LoadedPart | undefined {
  if (isPartCovered(one, other)) return one
  if (one.kind === 'slice' || other.kind === 'slice') {
    const both = one.kind === 'slice' && other.kind === 'slice' ? spanOf(one, other) : undefined
    return both && { kind: 'slice', offset: both.begin, count: both.end - both.begin }
  }
  const fields = one.fields && new Set([...one.fields, ...(other.fields ?? [])])
  const keys = new Map([...one.keys, ...other.keys].map((key) => [tokenOf(key), key]))
  return { kind: 'entries', keys: new Set(keys.values()), fields }
}

/** The positions from the first to the last of two slices; undefined where one counts from the start and the other from the end. */
function spanOf(one: LoadedSlice, other: LoadedSlice): { readonly begin: number; readonly end: number } | undefined {
  if (one.offset < 0 !== other.offset < 0) return undefined
  return { begin: Math.min(one.offset, other.offset), end: Math.max(endOf(one), endOf(other)) }
}

/** A slice that counts from the end stops there. */
const endOf = ({ offset, count }: LoadedSlice): number => (offset < 0 ? Math.min(0, offset + count) : offset + count)

/** Leaves fields of all parts of an entity empty that were not read. */
export function hideAllUnread(properties: readonly PropertyCodec[], entity: object, want: Loaded): void {
  for (const property of properties) hideUnread(property, readProperty(entity, property.name), want)
}

/** Leaves fields of a part empty that were not read: a counter would show 0. */
export function hideUnread(property: PropertyCodec, value: unknown, want: Loaded): void {
  const part = want?.parts?.get(property.name)
  if (part?.kind !== 'entries' || part.fields === undefined || isMissing(value)) return
  const { model } = (property as BinProperty).codec as PartCodec
  for (const { name } of model.properties) if (!part.fields.has(name)) writeProperty(value, name, undefined)
}
