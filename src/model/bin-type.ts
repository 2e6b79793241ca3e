/** A value that the client can store inside a bin. */
export type StoredValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly StoredValue[]
  | { readonly [key: string]: StoredValue }
  | ReadonlyMap<string | number | bigint | Uint8Array, StoredValue>

/**
 * A user's own codec for one property: any value to a stored one and back.
 *
 * @example
 * const money: ValueCodec<Money> = { name: 'money', encode: (m) => m.cents, decode: (c) => new Money(Number(c)) }
 */
export interface ValueCodec<T = unknown> {
  /** Shown by `model.describe()`. */
  readonly name?: string
  encode(value: T): StoredValue
  decode(stored: StoredValue): T
  /** Compares two values; by default their encoded forms are compared. */
  equals?(a: T, b: T): boolean
}

export const SCALAR_KINDS = [
  'int',
  'double',
  'string',
  'boolean',
  'bytes',
  'bigint',
  'date',
  'json',
  'geojson',
] as const
export type ScalarKind = (typeof SCALAR_KINDS)[number]

/** Keys that Aerospike maps may have and the codec can bring back. */
export type MapKeyKind = 'string' | 'int' | 'bigint'

export interface ScalarType {
  readonly kind: ScalarKind
}
export interface ListType {
  readonly kind: 'list'
  readonly item: BinType
}
/** A JavaScript Set, stored as an ordered list of unique values. */
export interface SetType {
  readonly kind: 'set'
  readonly item: BinType
}
/** A JavaScript Map, stored as a K-ordered map. */
export interface MapType {
  readonly kind: 'map'
  readonly key: MapKeyKind
  readonly value: BinType
}
export interface EnumType {
  readonly kind: 'enum'
  readonly values: readonly (string | number)[]
}
/** A part stored as one map bin (field name → value), or nested inside another part. */
export interface EmbeddedOneType {
  readonly kind: 'embedded'
  readonly shape: 'one'
  /** Name of an EmbeddableModel of the same Model (a name, because embeddables may contain themselves). */
  readonly part: string
}
/** A part whose fields are bins of the record itself; `bin` of each field is the full bin name. */
export interface EmbeddedBinsType {
  readonly kind: 'embedded'
  readonly shape: 'bins'
  readonly part: string
  readonly fields: readonly EmbeddedBin[]
}
export interface EmbeddedBin {
  readonly name: string
  readonly bin: string
  readonly type: BinType
}
/** A JavaScript array of parts, stored as a list of maps. */
export interface EmbeddedArrayType {
  readonly kind: 'embedded'
  readonly shape: 'array'
  readonly part: string
}
/** A JavaScript Map of parts, stored as a K-ordered map of maps. */
export interface EmbeddedMapType {
  readonly kind: 'embedded'
  readonly shape: 'map'
  readonly key: MapKeyKind
  readonly part: string
}
export type EmbeddedType = EmbeddedOneType | EmbeddedBinsType | EmbeddedArrayType | EmbeddedMapType
export interface CustomType {
  readonly kind: 'custom'
  readonly codec: ValueCodec
}

/** How a value is stored. Frozen plain data, told apart by `kind` (and `shape` for embedded ones). */
export type BinType = ScalarType | ListType | SetType | MapType | EnumType | EmbeddedType | CustomType
