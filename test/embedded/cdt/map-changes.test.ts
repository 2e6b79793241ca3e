import { expect } from 'chai'
import type { Value } from '#src/embedded/value/value.js'
import { ANY, blob, f, list, map, modify, type Call } from './notation.js'

const ENTRIES: [Value, Value][] = [
  ['a', 5],
  ['b', 1],
  ['c', 3],
]
const U = map(0, ...ENTRIES)
const K = map(1, ...ENTRIES)
const MISSING = undefined
const SAME = '{"a":5,"b":1,"c":3}'
const INVERTED = 0x10000

/** Answers of a real server: a name, the bin, the call, `answer | bin afterwards`. */
type Row = [string, Value | undefined, Call, string]

const ORDER: Row[] = [
  ['set_type 1 on missing', MISSING, [64, 1], 'nil | {#1 }'],
  ['set_type 0 on missing', MISSING, [64, 0], 'nil | {}'],
  ['set_type 1', U, [64, 1], 'nil | {#1 "a":5,"b":1,"c":3}'],
  ['set_type 3', U, [64, 3], 'nil | {#3 "a":5,"b":1,"c":3}'],
  ['set_type 0 on ordered', K, [64, 0], `nil | ${SAME}`],
  ['set_type with a persisted index', U, [64, 17], 'nil | {#1 "a":5,"b":1,"c":3}'],
  ['set_type 2', U, [64, 2], 'nil | {#2 "a":5,"b":1,"c":3}'],
  ['set_type of an unknown order', U, [64, 4], `ERR 26 | ${SAME}`],
  ['clear', U, [75], 'nil | {}'],
  ['clear ordered', K, [75], 'nil | {#1 }'],
  ['clear missing', MISSING, [75], 'nil | (none)'],
]

const PUTS: Row[] = [
  ['add new', U, [65, 'z', 9, 0], '4 | {"a":5,"b":1,"c":3,"z":9}'],
  ['add existing', U, [65, 'a', 9, 0], `ERR 24 | ${SAME}`],
  ['add to a missing bin, ordered', MISSING, [65, 'a', 9, 1], '1 | {#1 "a":9}'],
  ['add_items with one duplicate', U, [66, map(0, ['a', 1], ['z', 1]), 0], `ERR 24 | ${SAME}`],
  ['put new', U, [67, 'z', 9, 0, 0], '4 | {"a":5,"b":1,"c":3,"z":9}'],
  ['put in between', U, [67, 'bb', 9], '4 | {"a":5,"b":1,"bb":9,"c":3}'],
  ['put existing', U, [67, 'a', 9, 0, 0], '3 | {"a":9,"b":1,"c":3}'],
  ['put without order', U, [67, 'z', 9], '4 | {"a":5,"b":1,"c":3,"z":9}'],
  ['put missing, order 0', MISSING, [67, 'a', 9, 0], '1 | {"a":9}'],
  ['put missing, order 1', MISSING, [67, 'a', 9, 1], '1 | {#1 "a":9}'],
  ['put missing, order 3', MISSING, [67, 'a', 9, 3], '1 | {#3 "a":9}'],
  ['put missing, no order', MISSING, [67, 'a', 9], '1 | {"a":9}'],
  ['put order 1 on unordered', U, [67, 'z', 9, 1], '4 | {"a":5,"b":1,"c":3,"z":9}'],
  ['put create only, existing', U, [67, 'a', 9, 0, 1], `ERR 24 | ${SAME}`],
  ['put update only, new', U, [67, 'z', 9, 0, 2], `ERR 23 | ${SAME}`],
  ['put create only and no fail, existing', U, [67, 'a', 9, 0, 5], `3 | ${SAME}`],
  ['put update only and no fail, new', U, [67, 'z', 9, 0, 6], `3 | ${SAME}`],
  ['put update only, missing bin', MISSING, [67, 'a', 9, 0, 2], 'ERR 23 | (none)'],
  ['put_items', U, [68, map(0, ['a', 2], ['z', 1]), 0, 0], '4 | {"a":2,"b":1,"c":3,"z":1}'],
  ['put_items create only, one existing', U, [68, map(0, ['a', 2], ['z', 1]), 0, 1], `ERR 24 | ${SAME}`],
  ['put_items create only, no fail', U, [68, map(0, ['a', 2], ['z', 1]), 0, 5], `3 | ${SAME}`],
  [
    'put_items create only, no fail, partial',
    U,
    [68, map(0, ['a', 2], ['z', 1]), 0, 13],
    '4 | {"a":5,"b":1,"c":3,"z":1}',
  ],
  ['put_items update only, no fail, partial', U, [68, map(0, ['a', 2], ['z', 1]), 0, 14], '3 | {"a":2,"b":1,"c":3}'],
  ['put_items empty', U, [68, map(0), 0, 0], `3 | ${SAME}`],
  ['put_items empty, missing bin', MISSING, [68, map(0), 1, 0], '0 | {#1 }'],
  ['put_items of no map', U, [68, list(1)], `ERR 4 | ${SAME}`],
  ['replace existing', U, [69, 'a', 9], '3 | {"a":9,"b":1,"c":3}'],
  ['replace new', U, [69, 'z', 9], `ERR 23 | ${SAME}`],
  ['replace missing bin', MISSING, [69, 'a', 9], 'ERR 23 | (none)'],
  ['replace_items', U, [70, map(0, ['a', 9])], '3 | {"a":9,"b":1,"c":3}'],
  ['replace_items new', U, [70, map(0, ['z', 9])], `ERR 23 | ${SAME}`],
  ['replace_items missing bin', MISSING, [70, map(0, ['z', 9])], 'ERR 23 | (none)'],
  [
    'integers before strings before bytes',
    U,
    [68, map(0, [10, 1], [blob(1), 1])],
    '5 | {10:1,"a":5,"b":1,"c":3,<4:01>:1}',
  ],
  ['a list as key', U, [67, list(1), 1], `ERR 4 | ${SAME}`],
  ['a double as key', U, [67, f(1), 1], `ERR 4 | ${SAME}`],
  ['a boolean as key', U, [67, true, 1], `ERR 4 | ${SAME}`],
  ['nil as key', U, [67, null, 1], `ERR 4 | ${SAME}`],
  ['bytes as key', U, [67, blob(1), 9], '4 | {"a":5,"b":1,"c":3,<4:01>:9}'],
  ['a wildcard as value', U, [67, 'a', ANY], `ERR 4 | ${SAME}`],
  ['a value with flags of its own', U, [67, 'a', map(0x19, ['k', 1])], '3 | {"a":{#1 "k":1},"b":1,"c":3}'],
  ['put on a list', list(1), [67, 'a', 1], 'ERR 12 | [1]'],
]

const INCREMENTS: Row[] = [
  ['increment by 2', U, [73, 'a', 2, 0], '7 | {"a":7,"b":1,"c":3}'],
  ['increment a new key', U, [73, 'z', 2, 0], '2 | {"a":5,"b":1,"c":3,"z":2}'],
  ['increment by nil', U, [73, 'a', null, 0], '6 | {"a":6,"b":1,"c":3}'],
  ['increment in a missing bin, ordered', MISSING, [73, 'z', 2, 1], '2 | {#1 "z":2}'],
  ['decrement by 2', U, [74, 'a', 2, 0], '3 | {"a":3,"b":1,"c":3}'],
  ['decrement a new key', U, [74, 'z', 2, 0], '-2 | {"a":5,"b":1,"c":3,"z":-2}'],
  ['increment a string', map(0, ['a', 'x']), [73, 'a', 1], 'ERR 4 | {"a":"x"}'],
  ['increment with the key only', U, [73, 'a'], '6 | {"a":6,"b":1,"c":3}'],
  ['increment an integer by a double', U, [73, 'a', f(1.7)], '6 | {"a":6,"b":1,"c":3}'],
  ['increment a double by an integer', map(0, ['a', f(2.5)]), [73, 'a', 1], '3.5f | {"a":3.5f}'],
  ['increment a new key by a double', U, [73, 'z', f(1.5)], '1.5f | {"a":5,"b":1,"c":3,"z":1.5f}'],
  ['increment by a string', U, [73, 'a', 'x'], `ERR 4 | ${SAME}`],
]

const REMOVALS: Row[] = [
  ['remove_by_key, value', U, [76, 7, 'a'], '5 | {"b":1,"c":3}'],
  ['remove_by_key that is not there, value', U, [76, 7, 'zz'], `nil | ${SAME}`],
  ['remove_by_key that is not there, count', U, [76, 5, 'zz'], `0 | ${SAME}`],
  ['remove_by_key missing bin', MISSING, [76, 7, 'a'], 'nil | (none)'],
  ['remove_by_index 0, key', U, [77, 6, 0], '"a" | {"b":1,"c":3}'],
  ['remove_by_index 9', U, [77, 6, 9], `ERR 26 | ${SAME}`],
  ['remove_by_rank 0, key and value', U, [79, 8, 0], '{#8 "b":1} | {"a":5,"c":3}'],
  ['remove_by_key_list, count', U, [81, 5, list('a', 'zz')], '1 | {"b":1,"c":3}'],
  ['remove_by_key_list inverted, count', U, [81, INVERTED + 5, list('a')], '2 | {"a":5}'],
  ['remove_by_value, key', U, [82, 6, 1], '["b"] | {"a":5,"c":3}'],
  ['remove_by_value_list, key', U, [83, 6, list(1, 3)], '["b","c"] | {"a":5}'],
  ['remove_by_key_interval a..c, key', U, [84, 6, 'a', 'c'], '["a","b"] | {"c":3}'],
  ['remove_by_index_range 1, key', U, [85, 6, 1], '["b","c"] | {"a":5}'],
  ['remove_by_value_interval 1..4, key', U, [86, 6, 1, 4], '["b","c"] | {"a":5}'],
  ['remove_by_rank_range 0 2, key', U, [87, 6, 0, 2], '["b","c"] | {"a":5}'],
  ['remove_by_key_rel_index_range b 0, key', U, [88, 6, 'b', 0], '["b","c"] | {"a":5}'],
  ['remove_by_value_rel_rank_range 3 0 1, key', U, [89, 6, 3, 0, 1], '["c"] | {"a":5,"b":1}'],
  ['remove the last entry', map(0, ['a', 1]), [76, 0, 'a'], 'nil | {}'],
  ['remove one by value, key', U, [78, 6, 3], '"c" | {"a":5,"b":1}'],
  ['remove with a reading call', U, [97, 7, 'a'], `ERR 4 | ${SAME}`],
]

for (const [title, rows] of Object.entries({ ORDER, PUTS, INCREMENTS, REMOVALS })) {
  describe(`map calls that change: ${title.toLowerCase()}`, () => {
    for (const [name, bin, call, expected] of rows) {
      it(name, () => {
        expect(modify(bin, call)).to.equal(expected)
      })
    }
  })
}
