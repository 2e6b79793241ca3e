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
export type MapKeyKind = 'string' | 'int' | 'bigint' | 'bytes'
/** Keys of a map that lies inside another value, or whose values are parts. */
export type InnerMapKeyKind = Exclude<MapKeyKind, 'bytes'>

interface ScalarType {
  readonly kind: ScalarKind
}
export interface ListType {
  readonly kind: 'list'
  readonly item: BinType
  /** Kept in value order by the server; absent: in the order of insertion. */
  readonly order?: 'sorted'
  /** Equal items are stored once. */
  readonly unique?: true
  readonly persistIndex?: true
}
/** An array of fixed length, stored as a list; the server compares tuples field by field. */
interface TupleType {
  readonly kind: 'tuple'
  readonly items: readonly BinType[]
}
/** A JavaScript Set, stored as an ordered list of unique values. */
interface SetType {
  readonly kind: 'set'
  readonly item: BinType
}
/** A JavaScript Map, stored as a K-ordered or KV-ordered map. */
export interface MapType {
  readonly kind: 'map'
  readonly key: MapKeyKind
  readonly value: BinType
  /** KV-ordered: the server also keeps the order of values; absent: K-ordered. */
  readonly order?: 'keyValue'
  readonly persistIndex?: true
}
interface EnumType {
  readonly kind: 'enum'
  readonly values: readonly (string | number)[]
}
/** A part stored as one map bin (field name → value), or nested inside another part. */
interface EmbeddedOneType {
  readonly kind: 'embedded'
  readonly shape: 'one'
  /** Name of an EmbeddableModel of the same Model (a name, because embeddables may contain themselves). */
  readonly part: string
  /** Stored as a list of its fields. */
  readonly tuple?: true
}
/** A part whose fields are bins of the record itself; `bin` of each field is the full bin name. */
export interface EmbeddedBinsType {
  readonly kind: 'embedded'
  readonly shape: 'bins'
  readonly part: string
  readonly fields: readonly EmbeddedBin[]
}
interface EmbeddedBin {
  readonly name: string
  readonly bin: string
  readonly type: BinType
}
/** A JavaScript array of parts, stored as a list of maps or tuples. */
export interface EmbeddedArrayType {
  readonly kind: 'embedded'
  readonly shape: 'array'
  readonly part: string
  readonly tuple?: true
  readonly order?: 'sorted'
  readonly unique?: true
  readonly persistIndex?: true
}
/** A JavaScript Map of parts, stored as a map of maps or tuples. */
export interface EmbeddedMapType {
  readonly kind: 'embedded'
  readonly shape: 'map'
  readonly key: InnerMapKeyKind
  readonly part: string
  readonly tuple?: true
  readonly order?: 'keyValue'
  readonly persistIndex?: true
}
export type EmbeddedType = EmbeddedOneType | EmbeddedBinsType | EmbeddedArrayType | EmbeddedMapType
interface CustomType {
  readonly kind: 'custom'
  readonly codec: ValueCodec
}

/** Stored type of a value. Frozen plain data, told apart by `kind` (and `shape` for embedded ones). */
export type BinType = ScalarType | ListType | TupleType | SetType | MapType | EnumType | EmbeddedType | CustomType
