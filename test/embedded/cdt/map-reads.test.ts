import { expect } from 'chai'
import type { Value } from '#src/embedded/value/value.js'
import { list, map, read, type Call } from './notation.js'

const ENTRIES: [Value, Value][] = [
  ['a', 5],
  ['b', 1],
  ['c', 3],
]
const UNORDERED = map(0, ...ENTRIES)
const K = map(1, ...ENTRIES)
const KV = map(3, ...ENTRIES)
const INVERTED = 0x10000

/** The return types of the table, in the order of its columns. */
const TYPES = {
  none: 0,
  index: 1,
  'reverse index': 2,
  rank: 3,
  'reverse rank': 4,
  count: 5,
  key: 6,
  value: 7,
  'key and value': 8,
  exists: 13,
  'unordered map': 16,
  'ordered map': 17,
  'key, inverted': INVERTED + 6,
}

/** A query without its return type, and what a real server returned for each type. */
const OBSERVED: [string, Call, string[]][] = [
  [
    'by_key a',
    [97, 'a'],
    ['nil', '0', '2', '2', '0', '1', '"a"', '5', '{#8 "a":5}', 'true', '{"a":5}', '{#1 "a":5}', 'ERR 26'],
  ],
  ['by_key zz', [97, 'zz'], ['nil', '-1', '-1', '-1', '-1', '0', 'nil', 'nil', '{#8 }', 'false', '{}', '{#1 }', 'nil']],
  [
    'by_index 0',
    [98, 0],
    ['nil', '0', '2', '2', '0', '1', '"a"', '5', '{#8 "a":5}', 'true', '{"a":5}', '{#1 "a":5}', 'ERR 26'],
  ],
  [
    'by_rank 0',
    [100, 0],
    ['nil', '1', '1', '0', '2', '1', '"b"', '1', '{#8 "b":1}', 'true', '{"b":1}', '{#1 "b":1}', 'ERR 26'],
  ],
  [
    'all_by_value 3',
    [102, 3],
    [
      'nil',
      '[2]',
      '[0]',
      '[1]',
      '[1]',
      '1',
      '["c"]',
      '[3]',
      '{#8 "c":3}',
      'true',
      '{"c":3}',
      '{#1 "c":3}',
      '["a","b"]',
    ],
  ],
  [
    'key_interval a..c',
    [103, 'a', 'c'],
    [
      'nil',
      '[0,1]',
      '[1,2]',
      '[2,0]',
      '[0,2]',
      '2',
      '["a","b"]',
      '[5,1]',
      '{#8 "a":5,"b":1}',
      'true',
      '{"a":5,"b":1}',
      '{#1 "a":5,"b":1}',
      '["c"]',
    ],
  ],
  [
    'index_range 1 2',
    [104, 1, 2],
    [
      'nil',
      '[1,2]',
      '[0,1]',
      '[0,1]',
      '[2,1]',
      '2',
      '["b","c"]',
      '[1,3]',
      '{#8 "b":1,"c":3}',
      'true',
      '{"b":1,"c":3}',
      '{#1 "b":1,"c":3}',
      '["a"]',
    ],
  ],
  [
    'value_interval 1..4',
    [105, 1, 4],
    [
      'nil',
      '[1,2]',
      '[1,0]',
      '[0,1]',
      '[1,2]',
      '2',
      '["b","c"]',
      '[1,3]',
      '{#8 "b":1,"c":3}',
      'true',
      '{"b":1,"c":3}',
      '{#1 "b":1,"c":3}',
      '["a"]',
    ],
  ],
  [
    'rank_range 0 2',
    [106, 0, 2],
    [
      'nil',
      '[1,2]',
      '[1,0]',
      '[0,1]',
      '[1,2]',
      '2',
      '["b","c"]',
      '[1,3]',
      '{#8 "b":1,"c":3}',
      'true',
      '{"b":1,"c":3}',
      '{#1 "b":1,"c":3}',
      '["a"]',
    ],
  ],
  [
    'key_list c,a,zz',
    [107, list('c', 'a', 'zz')],
    [
      'nil',
      '[2,0]',
      '[0,2]',
      'ERR 26',
      'ERR 26',
      '2',
      '["a","c"]',
      '[5,3]',
      '{#8 "a":5,"c":3}',
      'true',
      '{"a":5,"c":3}',
      '{#1 "a":5,"c":3}',
      '["b"]',
    ],
  ],
  [
    'value_list',
    [108, list(5, 1)],
    [
      'nil',
      '[0,1]',
      '[2,1]',
      '[2,0]',
      '[0,2]',
      '2',
      '["a","b"]',
      '[5,1]',
      '{#8 "a":5,"b":1}',
      'true',
      '{"a":5,"b":1}',
      '{#1 "a":5,"b":1}',
      '["c"]',
    ],
  ],
  [
    'key_rel_idx b -1 2',
    [109, 'b', -1, 2],
    [
      'nil',
      '[0,1]',
      '[1,2]',
      '[2,0]',
      '[0,2]',
      '2',
      '["a","b"]',
      '[5,1]',
      '{#8 "a":5,"b":1}',
      'true',
      '{"a":5,"b":1}',
      '{#1 "a":5,"b":1}',
      '["c"]',
    ],
  ],
  [
    'val_rel_rank 3 0',
    [110, 3, 0],
    [
      'nil',
      '[2,0]',
      '[0,2]',
      '[1,2]',
      '[0,1]',
      '2',
      '["c","a"]',
      '[3,5]',
      '{#8 "c":3,"a":5}',
      'true',
      '{"c":3,"a":5}',
      '{#1 "a":5,"c":3}',
      '["b"]',
    ],
  ],
]

for (const [order, bin] of Object.entries({ UNORDERED, K, KV })) {
  describe(`map calls that select from a map with order ${order}, by return type`, () => {
    for (const [name, [opcode, ...args], results] of OBSERVED) {
      Object.entries(TYPES).forEach(([type, code], column) => {
        // Only an ordered map does not find a missing key, asked inversely; another refuses to invert a single key.
        const refused = order === 'UNORDERED' && name === 'by_key zz' && code > INVERTED
        it(`${name}: ${type}`, () => {
          expect(read(bin, [opcode, code, ...args])).to.equal(refused ? 'ERR 26' : results[column])
        })
      })
    }
  })
}

const OTHERS: [string, Call, string][] = [
  ['size', [96], '3'],
  ['by_index 9', [98, 7, 9], 'ERR 26'],
  ['by_rank 9', [100, 7, 9], 'ERR 26'],
  ['by_rank -1', [100, 6, -1], '"a"'],
  ['index_range 9', [104, 6, 9], '[]'],
  ['key_interval nil..b', [103, 6, null, 'b'], '["a"]'],
  ['key_interval b..', [103, 6, 'b'], '["b","c"]'],
  ['one by value, key', [99, 6, 3], '"c"'],
  ['one by value that is not there, index', [99, 1, 9], '-1'],
  ['value_list of nothing, inverted', [108, INVERTED + 6, list()], '["a","b","c"]'],
  ['key_list of nothing', [107, 6, list()], '[]'],
  ['rank_range 1 1 inverted, key', [106, INVERTED + 6, 1, 1], '["a","b"]'],
  ['rank_range 1 1 inverted, reverse rank', [106, INVERTED + 4, 1, 1], '[2,0]'],
  ['a changing call', [67, 'a', 1], 'ERR 4'],
  ['a return type that does not exist', [104, 14, 0], 'ERR 26'],
  ['too few arguments', [97, 7], 'ERR 4'],
]

/** The server's answer to whether anything is left outside depends on how it looked; these are read in its source. */
const EXISTS_INVERTED: [string, Value, Call, string][] = [
  ['value_interval that selects some', K, [105, 1, 4], 'false'],
  ['value_interval that selects none', K, [105, 7, 9], 'true'],
  ['key_interval of an ordered map', K, [103, 'b', 'c'], 'true'],
  ['key_interval of an unordered map', UNORDERED, [103, 'b', 'c'], 'false'],
  ['index_range in the middle of an ordered map', K, [104, 1, 1], 'true'],
  ['index_range in the middle of an unordered map', UNORDERED, [104, 1, 1], 'false'],
  ['index_range at the start of an unordered map', UNORDERED, [104, 0, 1], 'true'],
  ['rank_range in the middle', K, [106, 1, 1], 'false'],
  ['rank_range at the start', K, [106, 0, 1], 'true'],
  ['value_list', K, [108, list(5)], 'true'],
  ['key_list', K, [107, list('a')], 'true'],
]

describe('map calls that select inversely and ask whether anything exists', () => {
  for (const [name, bin, [opcode, ...args], expected] of EXISTS_INVERTED) {
    it(name, () => {
      expect(read(bin, [opcode, INVERTED + 13, ...args])).to.equal(expected)
    })
  }
})

describe('map calls that read', () => {
  for (const [name, call, expected] of OTHERS) {
    it(name, () => {
      expect(read(K, call)).to.equal(expected)
    })
  }

  it('need a map', () => {
    expect(read(list(1), [96])).to.equal('ERR 12')
    expect(read('a', [96])).to.equal('ERR 12')
  })

  describe('rank entries with equal values by their keys', () => {
    const equal = map(1, ['a', 1], ['b', 1], ['c', 0], ['d', 1], ['e', 1], ['f', 1])

    it('by index range', () => expect(read(equal, [104, 3, 0, 2])).to.equal('[1,2]'))
    it('by key', () => expect(read(equal, [97, 3, 'b'])).to.equal('2'))
    it('by key, from the end', () => expect(read(equal, [97, 4, 'e'])).to.equal('1'))
    it('by index', () => expect(read(equal, [98, 3, 3])).to.equal('3'))
    it('by rank', () =>
      expect([1, 2, 3, 4, 5].map((rank) => read(equal, [100, 6, rank])).join('')).to.equal('"a""b""d""e""f"'))
    it('by rank range', () => expect(read(equal, [106, 6, 2, 3])).to.equal('["b","d","e"]'))
    it('by relative rank range', () => expect(read(equal, [110, 6, 1, 1, 3])).to.equal('["b","d","e"]'))
    it('by the rest of a rank range', () => expect(read(equal, [106, INVERTED + 6, 2, 3])).to.equal('["a","c","f"]'))
  })
})
