import {
  instantiate,
  mapKeyCodec,
  mapSubtype,
  readProperty,
  sameBytesIn,
  writeProperty,
  type Codecs,
} from '../codec/index.js'
import type { BinType, EmbeddedType, PropertyModel } from '../model/index.js'
import type { MapSubtype, Path } from '../plan/operation.js'
import { atKey, atKeyCreated } from '../plan/operations.js'
import type { MapKey } from '../plan/value.js'

/** A step into a loaded value. */
interface ValueStep {
  /** Key of the entry in a Map, or name of the property of a part or object. */
  readonly key: unknown
  /** Makes the value of the entry where there is none; absent: an entry is never made up. */
  readonly make?: () => unknown
  /** The key is the name of a property of a part. */
  readonly isField: boolean
}

/** A place in a record: a bin, or a value nested in it, with its declared type. */
export interface Place {
  readonly property: string
  readonly bin: string
  readonly type: BinType
  readonly path: Path
  /** Type of the value that the steps begin at, where that is not a property of the class. */
  readonly rootType?: BinType
  /** Key of that value in its collection. */
  readonly rootKey?: MapKey
  readonly steps: readonly ValueStep[]
}

export const placeOf = ({ name, bin, type }: PropertyModel): Place => ({
  property: name,
  bin,
  type,
  path: [],
  steps: [],
})

export type Shape = 'list' | 'set' | 'map' | 'other'

/** The kind of handle that a type has. */
export function shapeOf(type: BinType): Shape {
  if (type.kind === 'list' || type.kind === 'set' || type.kind === 'map') return type.kind
  if (type.kind === 'json') return 'map'
  if (type.kind !== 'embedded') return 'other'
  if (type.shape === 'array') return 'list'
  return type.shape === 'bins' || (type.shape === 'one' && type.tuple) ? 'other' : 'map'
}

/** True for a single part, whose entries are fields. */
export const isPart = (type: BinType): boolean => type.kind === 'embedded' && type.shape === 'one'

export interface ListSubtype {
  readonly isSorted: boolean
  readonly isUnique: boolean
}

/** The declared order and uniqueness of the list at a place. */
export function subtypeOf({ type }: Place): ListSubtype {
  const declared = type.kind === 'list' || (type.kind === 'embedded' && type.shape === 'array') ? type : undefined
  return { isSorted: declared?.order === 'sorted', isUnique: declared?.unique === true }
}

/** True where the server finds items or entries by their value, so that all values must have a place in that order. */
export const keepsValueOrder = (type: BinType): boolean =>
  type.kind === 'set' || ('order' in type && type.order !== undefined) || ('unique' in type && type.unique === true)

/** Subtype that a put gives to the map of a bin where there is none. */
export function mapSubtypeOf({ type, path }: Place): MapSubtype | undefined {
  const isMap = type.kind === 'map' || (type.kind === 'embedded' && type.shape === 'map')
  return isMap && path.length === 0 ? mapSubtype(type) : undefined
}

const JSON_TYPE: BinType = Object.freeze({ kind: 'json' })

/** The type of the items of a list or set. */
export function itemType(type: BinType): BinType {
  if (type.kind === 'list' || type.kind === 'set') return type.item
  return type.kind === 'embedded' ? partOf(type) : JSON_TYPE
}

const partOf = ({ part, ...type }: EmbeddedType): BinType => ({
  kind: 'embedded',
  shape: 'one',
  part,
  ...('tuple' in type && { tuple: true }),
})

/** An entry of a map, part or JSON object: its key as stored and its type. */
export interface Entry {
  readonly key: MapKey
  readonly type: BinType
  /** Name or key in a loaded value. */
  readonly name: unknown
}

/** The entry under a key; undefined where the part has no such field. */
export function entryOf(type: BinType, key: unknown, codecs: Codecs): Entry | undefined {
  if (type.kind === 'map') return { key: mapKeyCodec(type.key).encode(key), type: type.value, name: key }
  if (type.kind === 'json') return { key: mapKeyCodec('string').encode(key), type: JSON_TYPE, name: key }
  if (type.kind !== 'embedded' || type.shape === 'array' || type.shape === 'bins') return undefined
  if (type.shape === 'map') return { key: mapKeyCodec(type.key).encode(key), type: partOf(type), name: key }
  const field = codecs.model.embeddable(type.part).properties.find(({ name }) => name === key)
  return field === undefined ? undefined : { key: field.bin, type: field.type, name: field.name }
}

/** Stored names of the fields of a part, whose map may have other entries, such as children of a child. Undefined for a Map or JSON object. */
export function fieldKeysOf(type: BinType, { model }: Codecs): readonly MapKey[] | undefined {
  if (type.kind !== 'embedded' || type.shape !== 'one') return undefined
  return model.embeddable(type.part).properties.map(({ bin }) => bin)
}

/** The key of a stored entry as people use it. */
export function keyOfEntry(type: BinType, stored: MapKey, codecs: Codecs): unknown {
  if (type.kind === 'map' || (type.kind === 'embedded' && type.shape === 'map'))
    return mapKeyCodec(type.key).decode(stored)
  if (type.kind !== 'embedded') return String(stored)
  const field = codecs.model.embeddable(type.part).properties.find(({ bin }) => bin === stored)
  return field?.name ?? String(stored)
}

/** The place of an entry's value. Parts in a map are never made up: a nested put would bring a deleted one back as a fragment. */
export function nested(place: Place, entry: Entry, codecs: Codecs): Place {
  const isPartOfMap = place.type.kind === 'embedded' && place.type.shape === 'map'
  const step = isPartOfMap ? atKey(entry.key) : atKeyCreated(entry.key, mapSubtypeOf(place)?.order)
  const make = isPartOfMap ? undefined : (): unknown => emptyOf(entry.type, codecs)
  return {
    ...place,
    type: entry.type,
    path: [...place.path, step],
    steps: [...place.steps, { key: entry.name, make, isField: isPart(place.type) }],
  }
}

/** An empty value of a list, set, map, part or JSON object. */
function emptyOf(type: BinType, codecs: Codecs): unknown {
  const shape = shapeOf(type)
  if (shape === 'list') return []
  if (shape === 'set') return new Set()
  if (type.kind === 'map' || (type.kind === 'embedded' && type.shape === 'map')) return new Map()
  if (type.kind !== 'embedded') return {}
  return instantiate(codecs.model.embeddable(type.part).class)
}

/** Changes the value at a place of a loaded property; returns the property's value. */
export function changeAt(
  root: unknown,
  place: Place,
  codecs: Codecs,
  rootType: BinType,
  change: (value: unknown) => void,
  isRemoval: boolean,
): unknown {
  if (isRemoval && valueAt(root, place) === undefined) return root
  const value = root ?? emptyOf(rootType, codecs)
  let at = value
  for (const { key, make } of place.steps) {
    let next = getEntry(at, key)
    if (next === undefined || next === null) {
      if (make === undefined) return value
      next = make()
      setEntry(at, key, next)
    }
    at = next
  }
  change(at)
  return value
}

/** The value at a place of a loaded property; undefined where there is none. */
export function valueAt(root: unknown, { steps }: Place): unknown {
  let at = root
  for (const { key } of steps) {
    if (at === undefined || at === null) return undefined
    at = getEntry(at, key)
  }
  return at ?? undefined
}

/** False for numbers, texts, lists and the like. */
export const hasEntries = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

export function getEntry(container: unknown, key: unknown): unknown {
  return container instanceof Map
    ? container.get(sameBytesIn(container, key))
    : readProperty(container as object, key as string)
}

export function setEntry(container: unknown, key: unknown, value: unknown): void {
  if (container instanceof Map) container.set(sameBytesIn(container, key), value)
  else writeProperty(container as object, key as string, value)
}

export function deleteEntry(container: unknown, key: unknown): void {
  if (container instanceof Map) container.delete(sameBytesIn(container, key))
  else delete (container as Record<string, unknown>)[key as string]
}

/** Path for a read, which creates nothing. */
export const withoutCreating = (path: Path): Path =>
  path.map((step) => (step.in === 'mapKey' && step.create === true ? atKey(step.key) : step))
