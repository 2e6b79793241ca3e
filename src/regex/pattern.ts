/** Set of bytes as 256 flags: 1 where it belongs to the set. */
export type ByteSet = Uint8Array

/** Conditions on what stands before and after a position. */
export const Assertion = {
  TEXT_START: 0,
  TEXT_END: 1,
  LINE_START: 2,
  LINE_END: 3,
  WORD_EDGE: 4,
  NO_WORD_EDGE: 5,
  WORD_START: 6,
  WORD_END: 7,
} as const
export type Assertion = (typeof Assertion)[keyof typeof Assertion]

/** A parsed regular expression. */
export type Pattern =
  | { readonly kind: 'byte'; readonly set: ByteSet }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'either'; readonly branches: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly part: Pattern; readonly least: number; readonly most: number }
  | { readonly kind: 'group'; readonly number: number; readonly part: Pattern }
  | { readonly kind: 'back reference'; readonly number: number }
  | { readonly kind: 'assertion'; readonly test: Assertion }

/** The bytes of a latin1 string such as `A-Za-z`, with `-` between the ends of a range. */
export function byteSet(ranges: string): ByteSet {
  const set = new Uint8Array(256)
  for (let i = 0; i < ranges.length; i++) {
    const isRange = ranges[i + 1] === '-' && i + 2 < ranges.length
    addRange(set, ranges.charCodeAt(i), ranges.charCodeAt(isRange ? i + 2 : i))
    if (isRange) i += 2
  }
  return set
}

export function addRange(set: ByteSet, from: number, to: number): void {
  for (let byte = from; byte <= to; byte++) set[byte] = 1
}

export function inverted(set: ByteSet): ByteSet {
  return set.map((member) => 1 - member)
}

/** The set with both cases of every ASCII letter in it; the C locale knows no others. */
export function foldCase(set: ByteSet): ByteSet {
  const folded = set.slice()
  for (let lower = 0x61; lower <= 0x7a; lower++) {
    if (set[lower] || set[lower - 0x20]) folded[lower] = folded[lower - 0x20] = 1
  }
  return folded
}

export const WORD = byteSet('A-Za-z0-9_')
export const NEWLINE = 0x0a
