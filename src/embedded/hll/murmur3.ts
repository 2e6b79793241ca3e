const MASK = (1n << 64n) - 1n
const C1 = 0x87c37b91114253d5n
const C2 = 0x4cf5ad432745937fn

function rotate(value: bigint, by: bigint): bigint {
  return ((value << by) | (value >> (64n - by))) & MASK
}

function mix(value: bigint): bigint {
  let mixed = value ^ (value >> 33n)
  mixed = (mixed * 0xff51afd7ed558ccdn) & MASK
  mixed ^= mixed >> 33n
  mixed = (mixed * 0xc4ceb9fe1a85ec53n) & MASK
  return mixed ^ (mixed >> 33n)
}

function scramble(block: bigint, first: bigint, by: bigint, second: bigint): bigint {
  return (rotate((block * first) & MASK, by) * second) & MASK
}

/** The two halves of MurmurHash3 (x64, 128 bits, seed 0), the hash that sketches of a server are made with. */
export function murmur3(bytes: Buffer): readonly [bigint, bigint] {
  let h1 = 0n
  let h2 = 0n
  const whole = bytes.length & ~15
  for (let at = 0; at < whole; at += 16) {
    h1 ^= scramble(bytes.readBigUInt64LE(at), C1, 31n, C2)
    h1 = ((rotate(h1, 27n) + h2) * 5n + 0x52dce729n) & MASK
    h2 ^= scramble(bytes.readBigUInt64LE(at + 8), C2, 33n, C1)
    h2 = ((rotate(h2, 31n) + h1) * 5n + 0x38495ab5n) & MASK
  }
  const tail = Buffer.alloc(16)
  bytes.copy(tail, 0, whole)
  h2 ^= scramble(tail.readBigUInt64LE(8), C2, 33n, C1)
  h1 ^= scramble(tail.readBigUInt64LE(0), C1, 31n, C2)
  const length = BigInt(bytes.length)
  h1 = ((h1 ^ length) + (h2 ^ length)) & MASK
  h2 = ((h2 ^ length) + h1) & MASK
  h1 = mix(h1)
  h2 = mix(h2)
  h1 = (h1 + h2) & MASK
  return [h1, (h2 + h1) & MASK]
}
