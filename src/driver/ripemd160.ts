/** The words of a block and the rotations that the 80 steps take, on each of the two lines of the hash. */
const WORDS = table('0123456789abcdef74d1a6f3c0952eb83ae49f812706db5c19ba08c4d37fe56240597c2ae138b6fd')
const OTHER_WORDS = table('5e7092b4d6f81a3c6b370d5aef8c4912f5137e69b8c2a04d86413bf05c2d97aecfa4158762de039b')
const SHIFTS = table('befc5879bdef6798768db97f7cf9b7dcbd67e9dfe8d65c75bcefef989e56865c9f5b68dc5cdeb856')
const OTHER_SHIFTS = table('899bdff5778beec69df7c89b77c76fdb97fb866ecd5edd75f58bee6e69c9c5f885c9c5e68d65fdbb')
const ROUND = 16
const BLOCK = 64

const block = new Int32Array(ROUND)
const hash = new Int32Array(5)

/**
 * The first four bytes of a RIPEMD-160 hash, as a little-endian number. Aerospike's digests are such hashes; Node's own takes twice
 * as long for a text as short as a key.
 */
export function ripemd160Start(bytes: Uint8Array, length: number): number {
  hash[0] = 0x67452301
  hash[1] = 0xefcdab89
  hash[2] = 0x98badcfe
  hash[3] = 0x10325476
  hash[4] = 0xc3d2e1f0
  let at = 0
  for (; at + BLOCK <= length; at += BLOCK) {
    fill(bytes, at, length)
    mix()
  }
  fill(bytes, at, length)
  // The end is a bit that is set, and the length in bits; they need nine bytes.
  const left = length - at
  block[left >> 2] |= 0x80 << ((left & 3) * 8)
  if (left > BLOCK - 9) {
    mix()
    block.fill(0)
  }
  block[14] = length << 3
  block[15] = length >>> 29
  mix()
  return hash[0]
}

function fill(bytes: Uint8Array, at: number, length: number): void {
  for (let word = 0; word < ROUND; word++) {
    const i = at + word * 4
    if (i + 4 <= length) block[word] = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
    else {
      let rest = 0
      for (let byte = 0; i + byte < length; byte++) rest |= bytes[i + byte] << (byte * 8)
      block[word] = rest
    }
  }
}

function mix(): void {
  let a = hash[0]
  let b = hash[1]
  let c = hash[2]
  let d = hash[3]
  let e = hash[4]
  for (let step = 0; step < 80; step++) {
    const round = step >> 4
    const sum = (a + choose(round, b, c, d) + block[WORDS[step]] + CONSTANTS[round]) | 0
    a = e
    e = d
    d = rotate(c, 10)
    c = b
    b = (rotate(sum, SHIFTS[step]) + a) | 0
  }
  let p = hash[0]
  let q = hash[1]
  let r = hash[2]
  let s = hash[3]
  let t = hash[4]
  for (let step = 0; step < 80; step++) {
    const round = step >> 4
    const sum = (p + choose(4 - round, q, r, s) + block[OTHER_WORDS[step]] + OTHER_CONSTANTS[round]) | 0
    p = t
    t = s
    s = rotate(r, 10)
    r = q
    q = (rotate(sum, OTHER_SHIFTS[step]) + p) | 0
  }
  const first = hash[1] + c + s
  hash[1] = hash[2] + d + t
  hash[2] = hash[3] + e + p
  hash[3] = hash[4] + a + q
  hash[4] = hash[0] + b + r
  hash[0] = first
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

function choose(round: number, x: number, y: number, z: number): number {
  if (round === 0) return x ^ y ^ z
  if (round === 1) return (x & y) | (~x & z)
  if (round === 2) return (x | ~y) ^ z
  if (round === 3) return (x & z) | (y & ~z)
  return x ^ (y | ~z)
}

const CONSTANTS = Int32Array.of(0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e)
const OTHER_CONSTANTS = Int32Array.of(0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0)

function table(digits: string): Uint8Array {
  return Uint8Array.from([...digits].map((digit) => parseInt(digit, 16)))
}
