import type { TypeCodec } from '../codec/type-codec.js'
import type { BinType as ExpressionType, Expression } from '../plan/expression.js'
import { and, bin, binExists, gt, mapCount, mapGet, or, value } from '../plan/expression.js'
import { isDouble, isGeo, type MapKey, type Value } from '../plan/value.js'

/** Turns a value as people give it into the stored one; throws a ValueProblem. */
export type Encode = TypeCodec['encode']

export type Decode = TypeCodec['decode']

/** A stored place that conditions can name: a property, a reference, or a field of an embedded part. */
export interface Field {
  /** As people write it: `address.city`. */
  readonly path: string
  readonly bin: string
  /** Keys of the maps that lead from the bin to the place. */
  readonly steps: readonly MapKey[]
  readonly shape: FieldShape
  /** The set of the companion records that hold it, and whether an owner may have several of them. */
  readonly apart?: Apart
}

/** Companion records that hold the members of a collection. */
export interface Apart {
  readonly set: string
  readonly areSeveral: boolean
  /** A member may be in several of them, because the time of a link chooses and not the member's key. */
  readonly mayRepeat: boolean
  /** Bin of an owner that is there while its members move. Set where the owner's own record holds them until they are split. */
  readonly moveBin?: string
}

/** A single value. `isText` and `isOrdered` say which operators it has. */
interface ScalarShape {
  readonly kind: 'scalar'
  readonly encode: Encode
  readonly decode: Decode
  readonly isText: boolean
  readonly isOrdered: boolean
  readonly isBigint: boolean
  /** Can be summed up; a date is an integer on the server, and no number. */
  readonly isNumber: boolean
  /** The type of all its values on the server; undefined where that depends on the value. */
  readonly type: ExpressionType | undefined
}

export type FieldShape =
  | ScalarShape
  /** The key of another record. */
  | {
      readonly kind: 'ref'
      readonly encode: Encode
      readonly decode: Decode
      /** Properties that the key is made of, where it has a template. */
      readonly keyParts: readonly string[]
    }
  | { readonly kind: 'list'; readonly item: Encode | undefined; readonly decode?: Decode }
  | { readonly kind: 'map'; readonly key: Encode; readonly item: Encode | undefined }
  | {
      readonly kind: 'part'
      readonly name: string
      readonly fields: () => ReadonlyMap<string, Field>
      readonly bins?: readonly string[]
    }
  /** Stored in a form that no expression can look into. */
  | { readonly kind: 'opaque'; readonly what: string }

/** The field's value as an expression of that type; unknown where nothing, or something else, is stored. */
export function valueOf({ bin: name, steps }: Field, type: ExpressionType): Expression {
  if (steps.length === 0) return bin(type, name)
  const last = steps[steps.length - 1]
  return mapGet(containerOf(name, steps), last, type)
}

/** True where something is stored, and never unknown. */
export function isStored({ bin: name, steps, shape }: Field): Expression {
  if (shape.kind === 'part' && shape.bins !== undefined) {
    const bins = shape.bins.map(binExists)
    return bins.length === 1 ? bins[0] : or(...bins)
  }
  if (steps.length === 0) return binExists(name)
  const levels = steps.map((step, depth) => gt(mapCount(containerOf(name, steps.slice(0, depth + 1)), step), value(0)))
  return and(binExists(name), ...levels)
}

/** The map that the last step is a key of. */
function containerOf(name: string, steps: readonly MapKey[]): Expression {
  return steps.slice(0, -1).reduce((map, step) => mapGet(map, step, 'map'), bin('map', name))
}

/** The type under which the server compares a stored value. */
export function typeOf(stored: Value): ExpressionType {
  if (typeof stored === 'string') return 'str'
  if (typeof stored === 'number') return Number.isInteger(stored) ? 'int' : 'float'
  if (typeof stored === 'bigint') return 'int'
  if (typeof stored === 'boolean') return 'bool'
  if (isDouble(stored)) return 'float'
  if (stored instanceof Uint8Array) return 'blob'
  if (isGeo(stored)) return 'geo'
  return Array.isArray(stored) ? 'list' : 'map'
}
