import { CommandError, ResultCode } from '../protocol/result-code.js'
import { estimateCount } from './estimate.js'
import { Sketch } from './sketch.js'

/** A sketch of what any of several has seen; it has as many registers as the smallest of them. */
export function unionOf(sketches: readonly Sketch[]): Sketch {
  const minhashBits = commonMinhashBits(sketches)
  const union = new Sketch(Math.min(...sketches.map((sketch) => sketch.indexBits)), minhashBits)
  for (const sketch of sketches) union.merge(sketch)
  return union
}

/** Similarity of several sets: the share of the union that all of them have. */
export function similarityOf(sketches: readonly Sketch[]): number {
  const union = unionOf(sketches)
  if (union.minhashBits > 0) return sharedRegisters(sketches, union)
  const count = estimateCount(union.values)
  return count === 0 ? 0 : inclusion(sketches, count) / count
}

export function intersectCountOf(sketches: readonly Sketch[]): number {
  const union = unionOf(sketches)
  const count = estimateCount(union.values)
  if (union.minhashBits > 0) return Math.round(sharedRegisters(sketches, union) * count)
  return Math.round(inclusion(sketches, count))
}

/** Without minhashes only two sets can be compared, by what their counts add up to. */
function inclusion(sketches: readonly Sketch[], unionCount: number): number {
  if (sketches.length > 2) throw new CommandError(ResultCode.PARAMETER, 'more than two sketches without minhash bits')
  const sum = sketches.reduce((total, sketch) => total + estimateCount(sketch.values), 0)
  return Math.max(0, sketches.length === 1 ? sum : sum - unionCount)
}

/** Registers that agree in all sketches, among those that are set in any. */
function sharedRegisters(sketches: readonly Sketch[], union: Sketch): number {
  let shared = 0
  let used = 0
  for (let i = 0; i < union.values.length; i++) {
    if (union.values[i] === 0) continue
    used++
    const agrees = (sketch: Sketch): boolean =>
      sketch.values[i] === union.values[i] && sketch.hashes[i] === union.hashes[i]
    if (sketches.every(agrees)) shared++
  }
  return used === 0 ? 0 : shared / used
}

/** Minhashes only compare between sketches that are made in the same way; others are taken without them. */
function commonMinhashBits(sketches: readonly Sketch[]): number {
  const [{ indexBits, minhashBits }] = sketches
  const isSame = sketches.every((sketch) => sketch.minhashBits === minhashBits && sketch.indexBits === indexBits)
  return isSame ? minhashBits : 0
}
