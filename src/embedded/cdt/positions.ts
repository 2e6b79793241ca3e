import type { Value } from '../value/value.js'
import { complement } from './span.js'

export function at(values: readonly Value[], positions: readonly number[]): Value[] {
  return positions.map((position) => values[position])
}

/** A copy without the values at `positions`, which are ascending. */
export function without(values: readonly Value[], positions: readonly number[]): readonly Value[] {
  const first = positions[0]
  const contiguous = positions[positions.length - 1] - first === positions.length - 1
  if (contiguous) return values.toSpliced(first, positions.length)
  return at(values, complement(positions, values.length))
}
