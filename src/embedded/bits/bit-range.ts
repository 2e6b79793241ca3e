import { CommandError, ResultCode } from '../protocol/result-code.js'

/** A run of bits, counted from the most significant bit of the first byte. */
export interface BitRange {
  readonly offset: number
  readonly size: number
}

/** The range an offset and a size stand for; negative offsets count from the end, and `partial` cuts off what lies beyond it. */
export function bitRange(blob: Buffer, offset: number, size: number, partial: boolean): BitRange {
  return within(blob.length * 8, offset, size, partial, ResultCode.NOT_APPLICABLE)
}

/** Range in bytes that an offset and a size stand for. */
export function byteRange(blob: Buffer, offset: number, size: number, partial: boolean): BitRange {
  return within(blob.length, offset, size, partial, ResultCode.PARAMETER)
}

function within(total: number, offset: number, size: number, partial: boolean, code: number): BitRange {
  const start = offset < 0 ? total + offset : offset
  if (start < 0 || start >= total) throw new CommandError(code, 'out of bounds')
  if (start + size > total && !partial) throw new CommandError(code, 'out of bounds')
  return { offset: start, size: Math.min(size, total - start) }
}

/** The bits of a range, beginning with the first bit of the result; bits after the last are 0. */
export function extractBits(blob: Buffer, { offset, size }: BitRange): Buffer {
  const bits = Buffer.alloc(Math.ceil(size / 8))
  const shift = offset & 7
  const first = offset >>> 3
  for (let i = 0; i < bits.length; i++) {
    const pair = (blob[first + i] << 8) | (blob[first + i + 1] ?? 0)
    bits[i] = pair >>> (8 - shift)
  }
  if (bits.length > 0) bits[bits.length - 1] &= lastByteMask(size)
  return bits
}

/** Writes the first bits of `bits` to a range, in place. */
export function storeBits(blob: Buffer, { offset, size }: BitRange, bits: Buffer): void {
  const shift = offset & 7
  const first = offset >>> 3
  const count = Math.ceil(size / 8)
  for (let i = 0; i < count; i++) {
    const mask = i === count - 1 ? lastByteMask(size) : 0xff
    const pairMask = (mask << 8) >>> shift
    const pair = ((bits[i] & mask) << 8) >>> shift
    blob[first + i] = (blob[first + i] & ~(pairMask >>> 8)) | (pair >>> 8)
    if (pairMask & 0xff) blob[first + i + 1] = (blob[first + i + 1] & ~(pairMask & 0xff)) | (pair & 0xff)
  }
}

/** The bits of the last byte that belong to a run of so many bits. */
function lastByteMask(size: number): number {
  return size & 7 ? (0xff << (8 - (size & 7))) & 0xff : 0xff
}
