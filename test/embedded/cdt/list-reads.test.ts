import { expect } from 'chai'
import type { Value } from '#src/embedded/value/value.js'
import { ANY, INFINITY, f, list, map, ordered, read, type Call } from './notation.js'

const U = list(5, 1, 3, 1)
const O = ordered(1, 1, 3, 5)
const INVERTED = 0x10000

/** The return types of the tables, in the order of their columns. */
const TYPES = {
  none: 0,
  index: 1,
  'reverse index': 2,
  rank: 3,
  'reverse rank': 4,
  count: 5,
  value: 7,
  exists: 13,
  'value, inverted': INVERTED + 7,
  'count, inverted': INVERTED + 5,
}

/** A query without its return type, and what a real server returned for each type. */
const OBSERVED: [string, Call, string[]][] = [
  ['by_index 1', [19, 1], ['nil', '1', '2', '0', '3', '1', '1', 'true', 'ERR 26', 'ERR 26']],
  ['by_rank 0', [21, 0], ['nil', '1', '2', '0', '3', '1', '1', 'true', 'ERR 26', 'ERR 26']],
  ['by_value 1', [22, 1], ['nil', '[1,3]', '[2,0]', '[0,1]', '[2,3]', '2', '[1,1]', 'true', '[5,3]', '2']],
  ['by_value 9', [22, 9], ['nil', '[]', '[]', '[]', '[]', '0', '[]', 'false', '[5,1,3,1]', '4']],
  ['by_index_range 1 2', [24, 1, 2], ['nil', '[1,2]', '[1,2]', '[0,2]', '[3,1]', '2', '[1,3]', 'true', '[5,1]', '2']],
  ['by_rank_range 1 2', [26, 1, 2], ['nil', '[2,3]', '[1,0]', '[1,2]', '[1,2]', '2', '[3,1]', 'true', '[5,1]', '2']],
  [
    'by_value_list 1, 5',
    [23, list(1, 5)],
    ['nil', '[0,1,3]', '[3,2,0]', '[0,1,3]', '[3,2,0]', '3', '[5,1,1]', 'true', '[3]', '1'],
  ],
  [
    'by_value_interval 1..5',
    [25, 1, 5],
    ['nil', '[1,2,3]', '[2,1,0]', '[0,1,2]', '[1,2,3]', '3', '[1,3,1]', 'true', '[5]', '1'],
  ],
  [
    'by_value_rel_rank_range 3 -1 2',
    [27, 3, -1, 2],
    ['nil', '[2,3]', '[1,0]', '[1,2]', '[1,2]', '2', '[3,1]', 'true', '[5,1]', '2'],
  ],
]

describe('list calls that select, by return type', () => {
  for (const [name, [opcode, ...args], results] of OBSERVED) {
    Object.entries(TYPES).forEach(([type, code], column) => {
      it(`${name}: ${type}`, () => {
        expect(read(U, [opcode, code, ...args])).to.equal(results[column])
      })
    })
  }
})

/** Derived from the rules of ordered lists: rank and index are the same, ranges come ascending even when reversed. */
const ON_ORDERED: [string, Call, string][] = [
  ['by_rank_range 1 2, value', [26, 7, 1, 2], '[1,3]'],
  ['by_rank_range 1 2, reverse rank', [26, 4, 1, 2], '[1,2]'],
  ['by_rank_range 1 2 inverted, reverse rank', [26, INVERTED + 4, 1, 2], '[3,0]'],
  ['by_value 1, rank', [22, 3, 1], '[0,1]'],
  ['by_value 1 inverted, index', [22, INVERTED + 1, 1], '[2,3]'],
  ['by_value_list in the order of the items', [23, 7, list(5, 1)], '[5,1,1]'],
  ['by_value_list of an item given twice', [23, 7, list(5, 5)], '[5,5]'],
  ['by_value_list of an item given twice, count', [23, 5, list(5, 5)], '1'],
  ['by_value_interval 2..', [25, 7, 2], '[3,5]'],
  ['by_value_interval backwards', [25, 7, 5, 1], '[]'],
  ['by_value_rel_rank_range 3 -1 2, value', [27, 7, 3, -1, 2], '[1,3]'],
  ['by_value_rel_rank_range 2 0 1, value', [27, 7, 2, 0, 1], '[3]'],
  ['by_index_range inverted of nothing, reverse rank', [24, INVERTED + 4, 1, 0], '[0,1,2,3]'],
]

describe('list calls that select from ordered lists', () => {
  for (const [name, call, expected] of ON_ORDERED) {
    it(name, () => {
      expect(read(O, call)).to.equal(expected)
    })
  }
})

const SINGLE: [string, Call, string][] = [
  ['size', [16], '4'],
  ['get 1', [17, 1], '1'],
  ['get 9', [17, 9], 'ERR 26'],
  ['get -1', [17, -1], '1'],
  ['get -9', [17, -9], 'ERR 26'],
  ['get_range 1 2', [18, 1, 2], '[1,3]'],
  ['get_range 1', [18, 1], '[1,3,1]'],
  ['get_range 9 1', [18, 9, 1], '[]'],
  ['get_range -2', [18, -2], '[3,1]'],
  ['by_index 9', [19, 7, 9], 'ERR 26'],
  ['by_index 9, count', [19, 5, 9], 'ERR 26'],
  ['by_index 9, exists', [19, 13, 9], 'ERR 26'],
  ['by_rank 9', [21, 7, 9], 'ERR 26'],
  ['by_rank -1', [21, 7, -1], '5'],
  ['by_index_range 9', [24, 7, 9], '[]'],
  ['interval nil..3', [25, 7, null, 3], '[1,1]'],
  ['interval 3..', [25, 7, 3], '[5,3]'],
  ['interval 3..infinity', [25, 7, 3, INFINITY], '[5,3]'],
  ['one by value, index', [20, 1, 1], '1'],
  ['one by value that is not there, index', [20, 1, 9], '-1'],
  ['one by value that is not there, value', [20, 7, 9], 'nil'],
  ['keys of a list', [24, 6, 0], 'ERR 26'],
  ['a map of a list', [24, 17, 0], 'ERR 26'],
  ['no items, inverted', [23, INVERTED + 7, list()], '[5,1,3,1]'],
  ['a changing call', [1, 1], 'ERR 4'],
  ['too few arguments', [19, 7], 'ERR 4'],
  ['an opcode that does not exist', [60], 'ERR 4'],
]

/** The server's answer to whether anything is left outside depends on how it looked; these are read in its source. */
const EXISTS_INVERTED: [string, Value, Call, string][] = [
  ['value interval of an unordered list that selects some', U, [25, 1, 4], 'false'],
  ['value interval of an unordered list that selects none', U, [25, 7, 9], 'true'],
  ['value interval of an ordered list', O, [25, 1, 4], 'true'],
  ['index range', U, [24, 0, 1], 'true'],
  ['index range of everything', U, [24, 0], 'false'],
  ['rank range of an unordered list', U, [26, 0, 1], 'false'],
  ['rank range of an ordered list', O, [26, 0, 1], 'true'],
  ['value list', U, [23, list(1)], 'true'],
]

describe('list calls that select inversely and ask whether anything exists', () => {
  for (const [name, bin, [opcode, ...args], expected] of EXISTS_INVERTED) {
    it(name, () => {
      expect(read(bin, [opcode, INVERTED + 13, ...args])).to.equal(expected)
    })
  }
})

describe('list calls that read', () => {
  for (const [name, call, expected] of SINGLE) {
    it(name, () => {
      expect(read(U, call)).to.equal(expected)
    })
  }

  it('need a list', () => {
    expect(read(5, [16])).to.equal('ERR 12')
    expect(read(map(0, ['a', 1]), [16])).to.equal('ERR 12')
  })

  it('choose among equal elements as the server does', () => {
    const ties = list(2, 1, 2, 1, 2)
    expect(read(ties, [26, 1, 0, 1])).to.equal('[1]')
    expect(read(ties, [26, 1, 2, 2])).to.equal('[2,4]')
    expect(read(ties, [26, 1, 4, 1])).to.equal('[0]')
  })

  it('match a wildcard with everything that follows', () => {
    const pairs = list(list(1, 'a'), list(1, 'b', 7), list(2, 'a'))
    expect(read(pairs, [22, 7, list(1, ANY)])).to.equal('[[1,"a"],[1,"b",7]]')
    expect(read(ordered(...pairs.items), [22, 1, list(1, ANY)])).to.equal('[0,1]')
  })

  it('never take an integer for a double', () => {
    expect(read(list(1, f(1)), [22, 1, f(1)])).to.equal('[1]')
  })
})
