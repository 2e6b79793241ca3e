import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { partitionOfKey } from '#src/driver/partition-of.js'
import { partitionOf } from '#src/driver/query-position.js'
import { ripemd160Start } from '#src/driver/ripemd160.js'
import { recordKey } from '#src/plan/record-key.js'
import { digestOf } from '#src/embedded/faults/fault.js'

describe('the partition of a key', () => {
  it('is that of the digest which the server computes', () => {
    const keys = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 900 }),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.uint8Array({ maxLength: 1200 }).map((bytes) => Buffer.from(bytes)),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), keys, (set, key) => {
        const digest = Buffer.from(digestOf(set, key), 'latin1')
        expect(partitionOfKey(recordKey('test', set, key))).to.equal(partitionOf(digest))
      }),
    )
  })

  it('comes from a hash that agrees with that of Node at every length of its last block', () => {
    for (let length = 0; length < 200; length++) {
      const bytes = Buffer.from(Array.from({ length: length + 3 }, (_, i) => (i * 37 + length) & 0xff))
      const wanted = createHash('ripemd160').update(bytes.subarray(0, length)).digest().readInt32LE(0)
      expect(ripemd160Start(bytes, length)).to.equal(wanted)
    }
  })
})
