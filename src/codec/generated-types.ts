import type { InlineKind } from './property-codec.js'

/**
 * Code generated for the usual values of a type; `v` is the value at hand. Everything unusual (missing, of another
 * type, refused) goes the slow way, which is the interpreter's, so the two cannot differ in it.
 */
interface InlineCode {
  decode?(slow: string): string
  encode?(slow: string): string
  /** The snapshot of v; null becomes undefined. */
  readonly snapshot?: string
  /** True when v differs from the snapshot s. */
  different?(s: string, slow: string): string
}

const identical: Pick<InlineCode, 'snapshot' | 'different'> = {
  snapshot: 'v === null ? undefined : v',
  different: (s) => `v !== ${s} && (v !== null || ${s} !== undefined)`,
}

/** Object.is answers for one and the same value without looking at it: `===` reads its header, which is seldom in the cache. */
const same: Pick<InlineCode, 'snapshot' | 'different'> = {
  snapshot: identical.snapshot,
  different: (s) => `!Object.is(v, ${s}) && (v !== null || ${s} !== undefined)`,
}

export const INLINE: { readonly [K in InlineKind]: InlineCode } = {
  int: {
    decode: (slow) => `Number.isSafeInteger(v) ? v : ${slow}`,
    encode: (slow) => `Number.isSafeInteger(v) ? v : ${slow}`,
    ...identical,
  },
  double: {
    decode: (slow) => `typeof v === 'number' ? v : ${slow}`,
    encode: (slow) => `typeof v === 'number' ? Number.isInteger(v) ? new DoubleValue(v) : v : ${slow}`,
    snapshot: same.snapshot,
    // NaN equals itself here, and -0 is not 0: only there does `===` say something else, and it is compiled in place.
    different: (s, slow) => `(v !== ${s} || v === 0) && ${same.different!(s, slow)}`,
  },
  string: {
    decode: (slow) => `typeof v === 'string' ? v : ${slow}`,
    encode: (slow) => `typeof v === 'string' && isSafeText(v) ? v : ${slow}`,
    ...same,
  },
  boolean: {
    decode: (slow) => `typeof v === 'boolean' ? v : ${slow}`,
    encode: (slow) => `typeof v === 'boolean' ? v : ${slow}`,
    ...identical,
  },
  bigint: {
    decode: (slow) => `typeof v === 'bigint' ? v : ${slow}`,
    ...same,
  },
  date: {
    decode: (slow) => `typeof v === 'number' && v >= -864e13 && v <= 864e13 ? new Date(v) : ${slow}`,
    // NaN, the time of an invalid Date, is the only number that is not itself.
    encode: (slow) => `v instanceof Date && v.getTime() === v.getTime() ? v.getTime() : ${slow}`,
    snapshot: 'v === null || v === undefined ? undefined : v.getTime()',
    different: (s, slow) => `v instanceof Date ? v.getTime() !== ${s} : v === undefined ? ${s} !== undefined : ${slow}`,
  },
  single: {},
  other: {},
}
