import { expect } from 'chai'
import { companionKey, companionSet, hashShard } from '#src/keys/index.js'

describe('companion keys', () => {
  it('are the key of the record and the shard', () => {
    expect(companionSet('user', 'followers')).to.equal('user_followers')
    expect(companionKey('ada', 7)).to.equal('ada:7')
    expect(companionKey(17, '2024-05-01')).to.equal('17:2024-05-01')
    expect(companionKey(2n ** 60n, 0)).to.equal('1152921504606846976:0')
    expect(companionKey(Buffer.from('ada'), 12)).to.deep.equal(Buffer.from('ada:12'))
  })

  it('put a member into the shard that its CRC-32 says', () => {
    // The check value of CRC-32, which every implementation gives for these digits.
    expect(hashShard('123456789', 2 ** 32)).to.equal(0xcbf43926)
    expect(hashShard(123456789, 35)).to.equal(0xcbf43926 % 35)
    expect(hashShard(123456789n, 35)).to.equal(0xcbf43926 % 35)
    expect(hashShard(Buffer.from('123456789'), 35)).to.equal(0xcbf43926 % 35)
  })

  for (const [kind, keyOf] of [
    ['integers', (i: number) => i],
    ['text', (i: number) => `user-${i}`],
    ['bytes', (i: number) => Buffer.from([i & 255, i >> 8, 7])],
  ] as const) {
    it(`spread ${kind} evenly`, () => {
      const sizes = new Array<number>(35).fill(0)
      for (let i = 0; i < 35_000; i++) sizes[hashShard(keyOf(i), 35)]++
      expect(Math.min(...sizes)).to.be.above(800)
      expect(Math.max(...sizes)).to.be.below(1200)
    })
  }
})
