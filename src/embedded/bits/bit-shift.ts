/** Moves bits towards the first one, in place; zeros follow. */
export function shiftLeft(bits: Buffer, by: number): void {
  const bytes = by >>> 3
  const rest = by & 7
  for (let i = 0; i < bits.length; i++) {
    const pair = ((bits[i + bytes] ?? 0) << 8) | (bits[i + bytes + 1] ?? 0)
    bits[i] = (pair << rest) >>> 8
  }
}

/** Moves bits towards the last one, in place; zeros come in. */
export function shiftRight(bits: Buffer, by: number): void {
  const bytes = by >>> 3
  const rest = by & 7
  for (let i = bits.length - 1; i >= 0; i--) {
    const pair = ((bits[i - bytes - 1] ?? 0) << 8) | (bits[i - bytes] ?? 0)
    bits[i] = pair >>> rest
  }
}
