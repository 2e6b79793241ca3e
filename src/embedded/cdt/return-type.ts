/** Answer of a call that selects elements. */
export const ReturnType = {
  NONE: 0,
  INDEX: 1,
  REVERSE_INDEX: 2,
  RANK: 3,
  REVERSE_RANK: 4,
  COUNT: 5,
  KEY: 6,
  VALUE: 7,
  KEY_VALUE: 8,
  EXISTS: 13,
  UNORDERED_MAP: 16,
  ORDERED_MAP: 17,
} as const

const TYPE_MASK = 0xffff
const INVERTED = 0x10000

interface Wanted {
  readonly type: number
  /** Select what the call would otherwise leave. */
  readonly inverted: boolean
}

export function parseWanted(flags: number): Wanted {
  return { type: flags & TYPE_MASK, inverted: (flags & INVERTED) !== 0 }
}
