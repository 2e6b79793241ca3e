import type { MapKeyKind, ScalarKind, ValueCodec } from './bin-type.js'

/** A TypeScript enum, or the list of its values. */
type EnumSource = readonly (string | number)[] | { readonly [name: string]: string | number }

/**
 * A type as people write it in a decorator.
 *
 * @example
 * 'int', { list: 'string' }, { set: 'int' }, { map: 'date', key: 'int' }, { enum: Color }, or a ValueCodec
 * { list: { tuple: ['date', 'double'] }, order: 'sorted', persistIndex: true }, { map: 'int', order: 'keyValue' }
 */
export type TypeSpec =
  | ScalarKind
  | ListSpec
  | { readonly tuple: readonly [TypeSpec, ...TypeSpec[]] }
  | { readonly set: TypeSpec }
  | MapSpec
  | { readonly enum: EnumSource }
  | ValueCodec

interface ListSpec {
  readonly list: TypeSpec
  /** `'sorted'`: the server keeps the items in value order. Without it they stay in the order of insertion. */
  readonly order?: 'sorted'
  /** Equal items are stored once; adding one that is there changes nothing. */
  readonly unique?: boolean
  /** With `order: 'sorted'`: the server stores the list's index with it, so that it is not built anew by each operation. */
  readonly persistIndex?: boolean
}

interface MapSpec {
  readonly map: TypeSpec
  readonly key?: MapKeyKind
  /** `'key'` (the default), or `'keyValue'`: the server also keeps the order of values, for questions by rank. */
  readonly order?: 'key' | 'keyValue'
  /** The server stores the map's index with it, so that it is not built anew by each operation. */
  readonly persistIndex?: boolean
}

interface ScalarValues {
  int: number
  double: number
  string: string
  boolean: boolean
  bytes: Uint8Array
  bigint: bigint
  date: Date
  json: unknown
  geojson: object
}

type MapKeyOf<S> = S extends { readonly key: infer K extends MapKeyKind } ? ScalarValues[K] : string

/** The type of the property that a spec describes; used to check `@Bin({ type })` against the property it stands on. */
export type SpecValue<S> = S extends ScalarKind
  ? ScalarValues[S]
  : S extends { readonly list: infer I }
    ? readonly (SpecValue<I> | null)[]
    : S extends { readonly tuple: infer I extends readonly unknown[] }
      ? TupleValue<I>
      : S extends { readonly set: infer I }
        ? ReadonlySet<SpecValue<I>>
        : S extends { readonly map: infer V }
          ? ReadonlyMap<MapKeyOf<S>, SpecValue<V> | null>
          : S extends { readonly enum: infer E }
            ? E extends readonly (infer V)[]
              ? V
              : E[keyof E]
            : S extends ValueCodec<infer T>
              ? T
              : never

/** Not looked into where the fields are any type: the compiler would not come to an end. */
type TupleValue<I extends readonly unknown[]> = TypeSpec extends I[number]
  ? readonly unknown[]
  : { readonly [N in keyof I]: SpecValue<I[N]> | null }
