import { expect } from 'chai'
import { compareContainers } from '#src/embedded/expression/compare-containers.js'
import { Extreme, MapValue } from '#src/embedded/value/value.js'
import { list, map } from './sample-record.js'

const unordered = new MapValue(['a'], [1])

describe('Lists and maps in an expression', () => {
  it('are compared element by element, then by length', () => {
    expect(compareContainers(list(1, 2), list(1, 3))).to.be.below(0)
    expect(compareContainers(list(1, 2, 0), list(1, 2))).to.be.above(0)
    expect(compareContainers(map(['a', 1]), map(['a', 1]))).to.equal(0)
    expect(compareContainers(map(['b', 1]), map(['a', 9]))).to.be.above(0)
  })

  it('cannot be compared where a map without key order is met', () => {
    expect(compareContainers(unordered, map(['a', 1]))).to.equal(undefined)
    expect(compareContainers(list(1, unordered), list(1, unordered))).to.equal(undefined)
    expect(compareContainers(list(1, unordered), list(2, unordered))).to.be.below(0)
    expect(compareContainers(new MapValue([], []), map())).to.equal(0)
  })

  it('are equal from a wildcard on', () => {
    expect(compareContainers(list(1, Extreme.WILDCARD), list(1, 2, 3))).to.equal(0)
    expect(compareContainers(list(list(Extreme.WILDCARD), 5), list(list(1), 6))).to.equal(0)
    expect(compareContainers(list(1, Extreme.WILDCARD), list(2))).to.be.below(0)
  })
})
