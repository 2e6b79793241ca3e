const DOUBLE = Symbol.for('skein.double')
const GEO = Symbol.for('skein.geo')

/** A number that is stored as a double even when it is integral. */
export class DoubleValue {
  readonly [DOUBLE] = true
  constructor(readonly value: number) {}
}

/** A GeoJSON text that is stored with the geospatial type, not as a string. */
export class GeoValue {
  readonly [GEO] = true
  constructor(readonly json: string) {}
}

// The marker is a global symbol, so a value made by a second copy of the package is still recognised.
export function isDouble(value: unknown): value is DoubleValue {
  return typeof value === 'object' && value !== null && DOUBLE in value
}

export function isGeo(value: unknown): value is GeoValue {
  return typeof value === 'object' && value !== null && GEO in value
}

/** Value of a bin, a list item or a map entry; an integral `number` is an int64, a fractional one a double. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | DoubleValue
  | GeoValue
  | readonly Value[]
  | ReadonlyMap<MapKey, Value>
  | { readonly [key: string]: Value }

export type MapKey = string | number | bigint | Uint8Array
