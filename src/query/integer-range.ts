import type { Value } from '../plan/value.js'
import type { LookupOfField } from './term.js'

/** A lower or an upper bound, or both, as stored values. */
export interface Bound {
  readonly from?: Value
  readonly to?: Value
  /** The bound itself does not belong to it. */
  readonly isOpenFrom?: boolean
  readonly isOpenTo?: boolean
}

// The client takes the ends of a range as doubles; the ends of int64 are clamped by it.
const LOWEST = -(2n ** 63n)
const HIGHEST = 2n ** 63n
const LAST = HIGHEST - 1n
/** Distance of neighbouring doubles near the ends of int64. */
const STEP = 2048n

/**
 * The integers within all bounds as what an index is asked for; undefined where the bounds are not integers, `empty` where no
 * integer lies within.
 */
export function integerRange(bounds: readonly Bound[]): LookupOfField | 'empty' | undefined {
  let from = LOWEST
  let to = HIGHEST
  for (const bound of bounds) {
    const low = integerOf(bound.from)
    const high = integerOf(bound.to)
    if (low === undefined || high === undefined) return undefined
    if (low !== 'none' && low + (bound.isOpenFrom ? 1n : 0n) > from) from = low + (bound.isOpenFrom ? 1n : 0n)
    if (high !== 'none' && high - (bound.isOpenTo ? 1n : 0n) < to) to = high - (bound.isOpenTo ? 1n : 0n)
  }
  if (from > to || from > LAST) return 'empty'
  const isExact = isSafe(from) && isSafe(to)
  return {
    on: 'value',
    wanted: {
      from: isSafe(from) ? Number(from) : max(from - STEP, LOWEST),
      to: isSafe(to) ? Number(to) : min(to + STEP, HIGHEST),
    },
    isOpen: from === LOWEST || to === HIGHEST,
    isExact,
  }
}

/** `none` where there is no bound, undefined where it is not an integer. */
function integerOf(bound: Value | undefined): bigint | 'none' | undefined {
  if (bound === undefined) return 'none'
  if (typeof bound === 'bigint') return bound
  return typeof bound === 'number' && Number.isInteger(bound) ? BigInt(bound) : undefined
}

const isSafe = (value: bigint): boolean => value === LOWEST || value === HIGHEST || Number.isSafeInteger(Number(value))
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
