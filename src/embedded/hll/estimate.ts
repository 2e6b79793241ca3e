const MAX_VALUE = 63
const ALPHA = 1 / (2 * Math.log(2))

/**
 * Number of different elements that a sketch has seen, from the values of its registers. The estimator of Ertl (2017) needs no
 * correction for small or large counts.
 */
export function estimateCount(values: Uint8Array): number {
  const size = values.length
  const counts = new Array<number>(MAX_VALUE + 2).fill(0)
  for (const value of values) counts[value]++
  if (counts[0] === size) return 0
  let sum = size * tau(1 - counts[MAX_VALUE + 1] / size)
  for (let value = MAX_VALUE; value >= 1; value--) sum = (sum + counts[value]) / 2
  sum += size * sigma(counts[0] / size)
  return (ALPHA * size * size) / sum
}

/** The share of registers that were never set. */
function sigma(share: number): number {
  let power = share
  let factor = 1
  let sum = share
  for (let before = -1; sum !== before;) {
    power *= power
    before = sum
    sum += power * factor
    factor *= 2
  }
  return sum
}

/** The share of registers that are full. */
function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let root = share
  let factor = 1
  let sum = 1 - share
  for (let before = -1; sum !== before;) {
    root = Math.sqrt(root)
    before = sum
    factor /= 2
    sum -= (1 - root) ** 2 * factor
  }
  return sum / 3
}
