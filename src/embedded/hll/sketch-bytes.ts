import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Sketch } from './sketch.js'

/** Flags, index bits, minhash bits, and the cached count in 8 bytes. */
const HEADER = 11
const VALUE_BITS = 6
const MIN_INDEX_BITS = 4
const MAX_INDEX_BITS = 16
const MIN_MINHASH_BITS = 4
const MAX_MINHASH_BITS = 51
const HASH_BITS = 64
/** Steps that packing or unpacking a byte takes. */
const STEPS_PER_BYTE = 4

export function isIndexBits(bits: number): boolean {
  return bits >= MIN_INDEX_BITS && bits <= MAX_INDEX_BITS
}

export function isMinhashBits(bits: number): boolean {
  return bits === 0 || (bits >= MIN_MINHASH_BITS && bits <= MAX_MINHASH_BITS)
}

/** Index and minhash bits come from one half of a hash. */
export function fitTogether(indexBits: number, minhashBits: number): boolean {
  return indexBits + minhashBits <= HASH_BITS
}

/** A sketch as it is stored and sent: registers of 6 bits, each followed by its minhash, without gaps. */
export function encodeSketch(sketch: Sketch): Buffer {
  const { indexBits, minhashBits, values, hashes } = sketch
  const bytes = Buffer.alloc(byteLength(indexBits, minhashBits))
  requestBudget.work(bytes.length * STEPS_PER_BYTE)
  bytes[1] = indexBits
  bytes[2] = minhashBits
  bytes.writeBigUInt64BE(BigInt(sketch.cachedCount), 3)
  let at = HEADER * 8
  for (let i = 0; i < values.length; i++) {
    writeBits(bytes, at, VALUE_BITS, values[i])
    at += VALUE_BITS
    if (minhashBits > 0) writeBits(bytes, at, minhashBits, hashes[i])
    at += minhashBits
  }
  return bytes
}

export function decodeSketch(bytes: Buffer): Sketch {
  const [, indexBits, minhashBits] = bytes
  const isKnown =
    bytes.length >= HEADER &&
    isIndexBits(indexBits) &&
    isMinhashBits(minhashBits) &&
    fitTogether(indexBits, minhashBits) &&
    bytes.length === byteLength(indexBits, minhashBits)
  if (!isKnown) throw new CommandError(ResultCode.PARAMETER, 'not a HyperLogLog sketch')
  requestBudget.work(bytes.length * STEPS_PER_BYTE)
  const sketch = new Sketch(indexBits, minhashBits)
  sketch.cachedCount = Number(bytes.readBigUInt64BE(3))
  let at = HEADER * 8
  for (let i = 0; i < sketch.values.length; i++) {
    sketch.values[i] = readBits(bytes, at, VALUE_BITS)
    at += VALUE_BITS
    if (minhashBits > 0) sketch.hashes[i] = readBits(bytes, at, minhashBits)
    at += minhashBits
  }
  return sketch
}

function byteLength(indexBits: number, minhashBits: number): number {
  return HEADER + Math.ceil(((VALUE_BITS + minhashBits) << indexBits) / 8)
}

function writeBits(bytes: Buffer, at: number, size: number, value: number): void {
  let left = size
  while (left > 0) {
    const room = 8 - (at & 7)
    const taken = Math.min(room, left)
    const part = Math.floor(value / 2 ** (left - taken)) % 2 ** taken
    bytes[at >>> 3] |= part << (room - taken)
    at += taken
    left -= taken
  }
}

function readBits(bytes: Buffer, at: number, size: number): number {
  let value = 0
  let left = size
  while (left > 0) {
    const room = 8 - (at & 7)
    const taken = Math.min(room, left)
    value = value * 2 ** taken + ((bytes[at >>> 3] >>> (room - taken)) & ((1 << taken) - 1))
    at += taken
    left -= taken
  }
  return value
}
