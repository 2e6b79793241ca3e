import { CommandError, ResultCode } from '../protocol/result-code.js'
import { extractBits, storeBits, type BitRange } from './bit-range.js'

export const MAX_INTEGER_BITS = 64

/** Action of an addition whose result does not fit. */
export const Overflow = { FAIL: 0, SATURATE: 2, WRAP: 4 } as const

/** The integer in a range of at most 64 bits. */
export function readInteger(blob: Buffer, range: BitRange, signed: boolean): bigint {
  let value = 0n
  for (const byte of extractBits(blob, range)) value = (value << 8n) | BigInt(byte)
  value >>= BigInt((8 - (range.size & 7)) & 7)
  return signed ? BigInt.asIntN(range.size, value) : value
}

/** Writes the lowest bits of an integer to a range, in place. */
export function writeInteger(blob: Buffer, range: BitRange, value: bigint): void {
  const bits = Buffer.alloc(8)
  bits.writeBigUInt64BE(BigInt.asUintN(range.size, value) << BigInt(MAX_INTEGER_BITS - range.size))
  storeBits(blob, range, bits)
}

/** The sum of an integer in a range and another, which is cut to the same number of bits. */
export function addIntegers(
  current: bigint,
  change: bigint,
  sign: 1n | -1n,
  { bits, signed, overflow }: { bits: number; signed: boolean; overflow: number },
): bigint {
  const cut = signed ? BigInt.asIntN(bits, change) : BigInt.asUintN(bits, change)
  const sum = current + sign * cut
  const lowest = signed ? -(1n << BigInt(bits - 1)) : 0n
  const highest = (1n << BigInt(signed ? bits - 1 : bits)) - 1n
  if (sum >= lowest && sum <= highest) return sum
  if (overflow === Overflow.WRAP) return sum
  if (overflow === Overflow.SATURATE) return sum < lowest ? lowest : highest
  throw new CommandError(ResultCode.NOT_APPLICABLE, 'the result does not fit')
}
