import { toInteger } from '../value/value.js'

/** A signed 64-bit integer in canonical form: a number where it is safe, a bigint beyond. */
export type Int64 = number | bigint

// `+ 0` turns the -0 that JavaScript's arithmetic can give into the integer 0.

export function add(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInteger(BigInt(a) + BigInt(b))
}

export function subtract(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return toInteger(BigInt(a) - BigInt(b))
}

export function multiply(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product + 0
  }
  return toInteger(BigInt(a) * BigInt(b))
}

/** Truncates towards zero. The divisor must not be 0. */
export function divide(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0
  return toInteger(BigInt(a) / BigInt(b))
}

/** Has the sign of the dividend. The divisor must not be 0. */
export function remainder(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
  return toInteger(BigInt(a) % BigInt(b))
}

/** The absolute value; the smallest integer has none and stays itself. */
export function absolute(a: Int64): Int64 {
  return typeof a === 'number' ? Math.abs(a) : toInteger(a < 0n ? -a : a)
}

const SMALLEST = -(2n ** 63n)

/** Truncates towards zero; what does not fit gives the smallest integer, as the processor does. */
export function fromFloat(value: number): Int64 {
  const whole = Math.trunc(value) + 0
  if (Number.isSafeInteger(whole)) return whole
  if (!(Math.abs(whole) < 2 ** 63)) return SMALLEST
  return toInteger(BigInt(whole))
}

export function and(a: Int64, b: Int64): Int64 {
  if (isInt32(a) && isInt32(b)) return a & b
  return toInteger(BigInt(a) & BigInt(b))
}

export function or(a: Int64, b: Int64): Int64 {
  if (isInt32(a) && isInt32(b)) return a | b
  return toInteger(BigInt(a) | BigInt(b))
}

export function xor(a: Int64, b: Int64): Int64 {
  if (isInt32(a) && isInt32(b)) return a ^ b
  return toInteger(BigInt(a) ^ BigInt(b))
}

export function not(a: Int64): Int64 {
  return isInt32(a) ? ~a : toInteger(~BigInt(a))
}

export function shiftLeft(a: Int64, by: Int64): Int64 {
  return toInteger(BigInt(a) << shiftCount(by))
}

export function shiftRight(a: Int64, by: Int64): Int64 {
  return toInteger(BigInt.asUintN(64, BigInt(a)) >> shiftCount(by))
}

export function shiftRightSigned(a: Int64, by: Int64): Int64 {
  return toInteger(BigInt(a) >> shiftCount(by))
}

/** The processor looks only at the low six bits of a shift count. */
function shiftCount(by: Int64): bigint {
  return BigInt(by) & 63n
}

export function countOnes(a: Int64): number {
  const [high, low] = halves(a)
  return countOnes32(high) + countOnes32(low)
}

/** Position of the first 1 from the left (the highest bit is 0), or -1. */
export function firstOneFromLeft(a: Int64): number {
  const [high, low] = halves(a)
  if (high !== 0) return Math.clz32(high)
  return low === 0 ? -1 : 32 + Math.clz32(low)
}

/** Position, counted from the left, of the first 1 from the right, or -1. */
export function firstOneFromRight(a: Int64): number {
  const [high, low] = halves(a)
  if (low !== 0) return 32 + lowestOne(low)
  return high === 0 ? -1 : lowestOne(high)
}

function lowestOne(half: number): number {
  return Math.clz32(half & -half)
}

function isInt32(a: Int64): a is number {
  return typeof a === 'number' && a === (a | 0)
}

function halves(a: Int64): [number, number] {
  const bits = BigInt.asUintN(64, BigInt(a))
  return [Number(bits >> 32n), Number(bits & 0xffffffffn)]
}

function countOnes32(half: number): number {
  let count = 0
  for (let rest = half >>> 0; rest !== 0; rest &= rest - 1) count++
  return count
}
