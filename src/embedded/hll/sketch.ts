import { requestBudget } from '../protocol/request-budget.js'
import { encodeMsgpack } from '../value/msgpack-writer.js'
import type { Value } from '../value/value.js'
import { estimateCount } from './estimate.js'
import { murmur3 } from './murmur3.js'

/** Steps that hashing an element takes, beside those for its bytes. */
const STEPS_PER_ELEMENT = 200
const MAX_VALUE = 63

/**
 * A HyperLogLog sketch, with the lowest hashes beside its registers (HyperMinHash) where it has minhash bits. A register is
 * chosen by the low bits of one half of an element's hash and holds the longest run of zeros seen in the other half.
 */
export class Sketch {
  readonly values: Uint8Array
  readonly hashes: Float64Array
  /** The count as it was refreshed last; 0 where that is out of date. */
  cachedCount = 0

  constructor(
    readonly indexBits: number,
    readonly minhashBits: number,
  ) {
    this.values = new Uint8Array(1 << indexBits)
    this.hashes = new Float64Array(minhashBits === 0 ? 0 : 1 << indexBits)
    requestBudget.work(this.values.length)
  }

  get count(): number {
    return this.cachedCount || Math.round(estimateCount(this.values))
  }

  copy(): Sketch {
    const copy = new Sketch(this.indexBits, this.minhashBits)
    copy.values.set(this.values)
    copy.hashes.set(this.hashes)
    copy.cachedCount = this.cachedCount
    return copy
  }

  /** True when the element changed the sketch, and was therefore certainly new. */
  add(element: Value): boolean {
    const { index, value, hash } = this.#place(element)
    if (!this.#isAbove(index, value, hash)) return false
    this.#set(index, value, hash)
    return true
  }

  /** False when the element was certainly never added. */
  mayContain(element: Value): boolean {
    const { index, value, hash } = this.#place(element)
    return !this.#isAbove(index, value, hash)
  }

  /** Takes in what another sketch with the same or more registers has seen. */
  merge(other: Sketch): void {
    requestBudget.work(other.values.length)
    const mask = this.values.length - 1
    for (let i = 0; i < other.values.length; i++) {
      const hash = this.minhashBits === 0 ? 0 : other.hashes[i]
      if (this.#isAbove(i & mask, other.values[i], hash)) this.#set(i & mask, other.values[i], hash)
    }
  }

  #place(element: Value): { index: number; value: number; hash: number } {
    const bytes = encodeMsgpack(element)
    requestBudget.work(STEPS_PER_ELEMENT + bytes.length)
    const [low, high] = murmur3(bytes)
    const index = Number(low & BigInt(this.values.length - 1))
    const hash = Number((low >> BigInt(this.indexBits)) & ((1n << BigInt(this.minhashBits)) - 1n))
    return { index, value: trailingZeros(high) + 1, hash }
  }

  #isAbove(index: number, value: number, hash: number): boolean {
    const current = this.values[index]
    return value > current || (value === current && this.minhashBits > 0 && hash > this.hashes[index])
  }

  #set(index: number, value: number, hash: number): void {
    this.values[index] = value
    if (this.minhashBits > 0) this.hashes[index] = hash
    this.cachedCount = 0
  }
}

function trailingZeros(value: bigint): number {
  const low = Number(value & 0xffffffffn)
  if (low !== 0) return 31 - Math.clz32(low & -low)
  const high = Number(value >> 32n)
  return high === 0 ? MAX_VALUE - 1 : Math.min(32 + 31 - Math.clz32(high & -high), MAX_VALUE - 1)
}
