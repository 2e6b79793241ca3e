import type { MapKeyKind, ScalarKind, ValueCodec } from './bin-type.js'

/** A TypeScript enum, or the list of its values. */
export type EnumSource = readonly (string | number)[] | { readonly [name: string]: string | number }

/**
 * A type as people write it in a decorator.
 *
 * @example
 * 'int', { list: 'string' }, { set: 'int' }, { map: 'date', key: 'int' }, { enum: Color }, or a ValueCodec
 */
export type TypeSpec =
  | ScalarKind
  | { readonly list: TypeSpec }
  | { readonly set: TypeSpec }
  | { readonly map: TypeSpec; readonly key?: MapKeyKind }
  | { readonly enum: EnumSource }
  | ValueCodec

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
