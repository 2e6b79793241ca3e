import { expect } from 'chai'
import fc from 'fast-check'
import { SortedList } from '#src/embedded/store/sorted-list.js'

const numbers = () => new SortedList<number>((a, b) => a - b)
const contentOf = (list: SortedList<number>) => [...list.from(() => 0)]

const steps = fc.array(fc.record({ add: fc.boolean(), value: fc.integer({ min: 0, max: 3000 }) }), {
  minLength: 1,
  maxLength: 4000,
  size: 'max',
})

describe('A sorted list', () => {
  it('holds what was added and not deleted, in order, each once', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const list = numbers()
        const model = new Set<number>()
        for (const { add, value } of sequence) {
          if (add) expect(list.add(value)).to.equal(!model.has(value))
          else expect(list.delete(value)).to.equal(model.has(value))
          if (add) model.add(value)
          else model.delete(value)
        }
        expect(contentOf(list)).to.deep.equal([...model].sort((a, b) => a - b))
        expect(list.size).to.equal(model.size)
      }),
      { numRuns: 30 },
    )
  })

  it('starts anywhere', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(5000), { maxLength: 2000, size: 'max' }), fc.nat(5000), (values, start) => {
        const list = numbers()
        for (const value of values) list.add(value)
        const expected = values.filter((value) => value >= start).sort((a, b) => a - b)
        expect([...list.from((value) => value - start)]).to.deep.equal(expected)
      }),
      { numRuns: 50 },
    )
  })

  it('gives what stays exactly once while it changes under the reader', () => {
    fc.assert(
      fc.property(steps, fc.nat(50), (sequence, every) => {
        const list = numbers()
        for (let value = 0; value <= 3000; value += 3) list.add(value)
        const changes = sequence.filter(({ value }) => value % 3 !== 0).values()
        const seen: number[] = []
        for (const value of list.from(() => 0)) {
          seen.push(value)
          if (seen.length % (every + 1) !== 0) continue
          const change = changes.next().value
          if (change?.add) list.add(change.value)
          else if (change) list.delete(change.value)
        }
        expect(seen).to.deep.equal([...new Set(seen)].sort((a, b) => a - b))
        expect(seen.filter((value) => value % 3 === 0)).to.have.length(1001)
      }),
      { numRuns: 30 },
    )
  })
})
