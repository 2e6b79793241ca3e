import { expect } from 'chai'
import fc from 'fast-check'
import { RecordMap } from '#src/session/tracking/identity-map.js'

const all = (map: RecordMap<number>): number[] => {
  const found: number[] = []
  map.collect(() => true, found)
  return found
}

describe('what a session holds for each key', () => {
  it('is what a Map would hold', () => {
    const key = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('0', 'a'))
    const step = fc.record({ key, value: fc.integer({ min: 0, max: 3 }), isDelete: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const map = new RecordMap<number>()
        const model = new Map<string | number, number>()
        for (const { key, value, isDelete } of steps) {
          if (!isDelete) {
            map.set(key, value)
            model.set(key, value)
          } else {
            map.delete(key, value)
            if (model.get(key) === value) model.delete(key)
          }
          for (const each of [0, 1, 2, 3, '0', 'a']) expect(map.get(each)).to.equal(model.get(each))
          expect(all(map)).to.have.members([...model.values()])
        }
      }),
    )
  })

  it('is found by the content of bytes', () => {
    const map = new RecordMap<number>()
    map.set(Buffer.from('a'), 1)
    map.set(Buffer.from('b'), 2)
    expect([map.get(new Uint8Array([97])), map.get(Buffer.from('b')), map.get(Buffer.from('c'))]).to.deep.equal([
      1,
      2,
      undefined,
    ])
  })
})
