import type { IndexModel } from '../model/index.js'
import { and, not, value, type Expression } from '../plan/expression.js'
import type { UserKey } from '../plan/record-key.js'
import type { MapKey } from '../plan/value.js'
import { isStored, type Apart, type Field } from './field.js'

/** Index lookup that finds every record for which a term holds. */
export interface Lookup {
  /** The set of companion records, where they hold the bin. */
  readonly set?: string
  readonly bin: string
  readonly steps: readonly MapKey[]
  /** The value that is compared, where it is calculated. */
  readonly expression?: Expression
  readonly on: IndexModel['on']
  /** Values, any of which is meant; or the first and last integer of a range. */
  readonly wanted:
    { readonly any: readonly UserKey[] } | { readonly from: number | bigint; readonly to: number | bigint }
  /** A range that is open at one end. */
  readonly isOpen?: boolean
  /** The index finds no record for which the term does not hold. */
  readonly isExact: boolean
}

/** A server refuses to look for a value of so many bytes, and keeps none in an index. */
const TOO_LONG = 2048

/** Bytes of the first value that is too long for an index; undefined where there is none. */
export function tooLongFor({ wanted }: Pick<Lookup, 'wanted'>): number | undefined {
  if (!('any' in wanted)) return undefined
  return wanted.any.map(bytesOf).find((bytes) => bytes >= TOO_LONG)
}

function bytesOf(key: UserKey): number {
  return typeof key === 'string' ? Buffer.byteLength(key) : key instanceof Uint8Array ? key.length : 0
}

/** A condition that must hold. */
export interface Term {
  /** The property it is about, for messages; empty for several. */
  readonly path: string
  /** Says so by itself, or is unknown where nothing is stored: both leave the record out. */
  readonly expression: Expression
  /** The condition, never unknown: for what stands inside `not` and `or`. */
  readonly total: Expression
  readonly lookup?: Lookup
  /** No record can meet it. */
  readonly isNever?: true
  /** Set where it is about companion records, and not about the record itself. */
  readonly apart?: Apart
  /** Condition on the record itself, where members may be there or in companions. */
  readonly inOwner?: Term
}

/** Index lookup for a field, without the place of the field. */
export type LookupOfField = Omit<Lookup, 'set' | 'bin' | 'steps' | 'expression'>

/** A condition on a field that has no answer where nothing is stored: then it does not hold. */
export function onStored(field: Field, expression: Expression, lookup?: LookupOfField): Term {
  const { path, bin, steps, apart } = field
  const total = and(isStored(field), expression)
  const place = { bin, steps, ...(apart && { set: apart.set }) }
  const inOwner =
    apart?.moveBin === undefined ? undefined : onStored({ ...field, apart: undefined }, expression, lookup)
  return {
    path,
    expression,
    total,
    ...(lookup && { lookup: { ...place, ...lookup } }),
    ...(apart && { apart }),
    ...(inOwner && { inOwner }),
  }
}

/** A condition that has an answer for every record. */
export const onAny = ({ path }: Field, expression: Expression): Term => ({ path, expression, total: expression })

export function never({ path }: Field): Term {
  return { path, expression: value(false), total: value(false), isNever: true }
}

export const isMissing = (field: Field): Term => onAny(field, not(isStored(field)))

/** All of them in one expression; undefined for none. */
export function allOf(expressions: readonly Expression[]): Expression | undefined {
  return expressions.length < 2 ? expressions[0] : and(...expressions)
}
