import { expect } from 'chai'
import { ListValue, type Value } from '#src/embedded/value/value.js'
import { ANY, blob, f, list, map, modify, ordered, type Call } from './notation.js'

const U = list(5, 1, 3, 1)
const O = ordered(1, 3, 5)
const EMPTY = undefined

/** Answers of a real server: a name, the bin, the call, `answer | bin afterwards`. */
type Row = [string, Value | undefined, Call, string]

const ORDER: Row[] = [
  ['set_type ordered on missing', EMPTY, [0, 1], 'nil | [#1 ]'],
  ['set_type unordered on missing', EMPTY, [0, 0], 'nil | []'],
  ['set_type ordered on unordered', U, [0, 1], 'nil | [#1 1,1,3,5]'],
  ['set_type unordered on ordered', O, [0, 0], 'nil | [1,3,5]'],
  ['set_type with a persisted index', U, [0, 0x11], 'nil | [#1 1,1,3,5]'],
  ['set_type of an unknown order', U, [0, 2], 'ERR 26 | [5,1,3,1]'],
  ['sort', U, [13], 'nil | [1,1,3,5]'],
  ['sort descending', U, [13, 1], 'nil | [5,3,1,1]'],
  ['sort and drop duplicates', U, [13, 2], 'nil | [1,3,5]'],
  ['sort descending and drop duplicates', U, [13, 3], 'ERR 4 | [5,1,3,1]'],
  ['sort descending and drop duplicates of one value', list(1, 1), [13, 3], 'nil | [1]'],
  ['sort ordered', O, [13], 'nil | [#1 1,3,5]'],
  ['sort ordered descending', O, [13, 1], 'nil | [#1 1,3,5]'],
  ['sort missing', EMPTY, [13], 'ERR 12 | (none)'],
  [
    'sort every type',
    list(f(1.5), blob(1), map(0, ['a', 1]), map(0), list(1), list(), 'b', 'a', '', 2, -5, true, false, null, f(-2)),
    [13],
    'nil | [nil,false,true,-5,2,"","a","b",[],[1],{},{"a":1},<4:01>,-2f,1.5f]',
  ],
  ['sort lists', list(list(2), list(1, 'a'), list(1, 9), list(1), list()), [13], 'nil | [[],[1],[1,9],[1,"a"],[2]]'],
  [
    'sort maps',
    list(map(0, ['a', 1], ['b', 0]), map(0, ['b', 0]), map(0, ['a', 2]), map(0, ['a', 1]), map(0)),
    [13],
    'nil | [{},{"a":1},{"a":2},{"b":0},{"a":1,"b":0}]',
  ],
]

const ADDITIONS: Row[] = [
  ['append', U, [1, 9], '5 | [5,1,3,1,9]'],
  ['append missing', EMPTY, [1, 9], '1 | [9]'],
  ['append missing order 1', EMPTY, [1, 9, 1, 0], '1 | [#1 9]'],
  ['append missing unknown order', EMPTY, [1, 9, 2, 0], '1 | [9]'],
  ['append order 1 on unordered', U, [1, 2, 1, 0], '5 | [5,1,3,1,2]'],
  ['append order 0 on ordered', O, [1, 2, 0, 0], '4 | [#1 1,2,3,5]'],
  ['append unique duplicate', U, [1, 1, 0, 1], 'ERR 24 | [5,1,3,1]'],
  ['append unique duplicate, no fail', U, [1, 1, 0, 5], '4 | [5,1,3,1]'],
  ['append unique duplicate to ordered', O, [1, 3, 1, 1], 'ERR 24 | [#1 1,3,5]'],
  ['append a wildcard', U, [1, ANY], 'ERR 4 | [5,1,3,1]'],
  ['append a list with a wildcard', U, [1, list(1, ANY)], 'ERR 4 | [5,1,3,1]'],
  ['append a map with a bad key', U, [1, map(0, [f(1), 1])], 'ERR 4 | [5,1,3,1]'],
  ['append a list that asks for a persisted index', U, [1, new ListValue([2], 0x11)], '5 | [5,1,3,1,[#1 2]]'],
  ['append_items', U, [2, list(7, 8)], '6 | [5,1,3,1,7,8]'],
  ['append_items to ordered', O, [2, list(4, 0, 9)], '6 | [#1 0,1,3,4,5,9]'],
  ['append_items empty', U, [2, list()], '4 | [5,1,3,1]'],
  ['append_items empty missing', EMPTY, [2, list()], '0 | []'],
  ['append_items unique, one duplicate', U, [2, list(8, 1), 0, 1], 'ERR 24 | [5,1,3,1]'],
  ['append_items unique, no fail', U, [2, list(8, 1), 0, 5], '4 | [5,1,3,1]'],
  ['append_items unique, no fail, partial', U, [2, list(8, 1), 0, 13], '5 | [5,1,3,1,8]'],
  ['append_items unique, partial', U, [2, list(8, 1), 0, 9], 'ERR 24 | [5,1,3,1]'],
  ['append_items unique, items that repeat', U, [2, list(8, 8), 0, 1], 'ERR 26 | [5,1,3,1]'],
  ['append_items unique, items that repeat, partial', U, [2, list(8, 8), 0, 13], '5 | [5,1,3,1,8]'],
  ['append_items unique to ordered, items that repeat', O, [2, list(8, 8), 0, 1], 'ERR 26 | [#1 1,3,5]'],
  ['append_items unique to ordered, partial', O, [2, list(8, 8, 3), 0, 13], '4 | [#1 1,3,5,8]'],
  ['append_items of no list', U, [2, 7], 'ERR 4 | [5,1,3,1]'],
  ['append on an integer', 5, [1, 9], 'ERR 12 | 5'],
  ['append on a map', map(0, ['a', 1]), [1, 9], 'ERR 12 | {"a":1}'],
  ['insert 1', U, [3, 1, 9], '5 | [5,9,1,3,1]'],
  ['insert at size', U, [3, 4, 9], '5 | [5,1,3,1,9]'],
  ['insert past the end', U, [3, 6, 9], '7 | [5,1,3,1,nil,nil,9]'],
  ['insert past the end, bounded', U, [3, 6, 9, 2], 'ERR 26 | [5,1,3,1]'],
  ['insert past the end, bounded, no fail', U, [3, 6, 9, 6], '4 | [5,1,3,1]'],
  ['insert far past the end', U, [3, 0x7fffffff, 9], 'ERR 13 | [5,1,3,1]'],
  ['insert beyond any list', U, [3, 0x80000000, 9], 'ERR 26 | [5,1,3,1]'],
  ['insert -1', U, [3, -1, 9], '5 | [5,1,3,9,1]'],
  ['insert -9', U, [3, -9, 9], 'ERR 26 | [5,1,3,1]'],
  ['insert ordered', O, [3, 0, 9], 'ERR 26 | [#1 1,3,5]'],
  ['insert missing at 2', EMPTY, [3, 2, 9], '3 | [nil,nil,9]'],
  ['insert unique duplicate', U, [3, 0, 1, 1], 'ERR 24 | [5,1,3,1]'],
  ['insert_items', U, [4, 1, list(7, 8)], '6 | [5,7,8,1,3,1]'],
  ['insert_items past the end', U, [4, 6, list(7)], '7 | [5,1,3,1,nil,nil,7]'],
]

const REPLACEMENTS: Row[] = [
  ['set 1', U, [9, 1, 9], 'nil | [5,9,3,1]'],
  ['set at size', U, [9, 4, 9], 'nil | [5,1,3,1,9]'],
  ['set at size + 2', U, [9, 6, 9], 'nil | [5,1,3,1,nil,nil,9]'],
  ['set past the end, bounded', U, [9, 6, 9, 2], 'ERR 26 | [5,1,3,1]'],
  ['set ordered', O, [9, 0, 9], 'ERR 26 | [#1 1,3,5]'],
  ['set missing at 2', EMPTY, [9, 2, 9], 'nil | [nil,nil,9]'],
  ['set -1', U, [9, -1, 9], 'nil | [5,1,3,9]'],
  ['set -9', U, [9, -9, 9], 'ERR 26 | [5,1,3,1]'],
  ['set unique duplicate', U, [9, 0, 3, 1], 'ERR 24 | [5,1,3,1]'],
  ['set unique to the same value', U, [9, 0, 5, 1], 'nil | [5,1,3,1]'],
  ['set unique to the same value that is there twice', U, [9, 1, 1, 1], 'ERR 24 | [5,1,3,1]'],
  ['increment by nothing given', U, [12, 1], '2 | [5,2,3,1]'],
  ['increment by 5', U, [12, 1, 5], '6 | [5,6,3,1]'],
  ['increment with order and flags', U, [12, 1, 5, 0, 0], '6 | [5,6,3,1]'],
  ['increment past the end', U, [12, 9, 5], '5 | [5,1,3,1,nil,nil,nil,nil,nil,5]'],
  ['increment at size', U, [12, 4, 5], '5 | [5,1,3,1,5]'],
  ['increment an integer by a double', U, [12, 1, f(1.5)], '2 | [5,2,3,1]'],
  ['increment a double by an integer', list(f(2.5)), [12, 0, 1], '3.5f | [3.5f]'],
  ['increment a string', list('a'), [12, 0, 1], 'ERR 4 | ["a"]'],
  ['increment by a string', U, [12, 0, 'a'], 'ERR 4 | [5,1,3,1]'],
  ['increment ordered', O, [12, 0, 10], '11 | [#1 3,5,11]'],
  ['increment ordered past the end', O, [12, 4, 1], 'ERR 26 | [#1 1,3,5]'],
  ['increment ordered to a duplicate', O, [12, 0, 2, 1, 1], 'ERR 24 | [#1 1,3,5]'],
  ['increment missing', EMPTY, [12, 0, 5], '5 | [5]'],
  [
    'increment beyond an int64 wraps around',
    list(2n ** 63n - 1n),
    [12, 0, 1],
    '-9223372036854775808n | [-9223372036854775808n]',
  ],
  ['increment beyond a safe number', list(2 ** 53 - 1), [12, 0, 1], '9007199254740992n | [9007199254740992n]'],
]

const REMOVALS: Row[] = [
  ['pop 0', U, [5, 0], '5 | [1,3,1]'],
  ['pop 9', U, [5, 9], 'ERR 26 | [5,1,3,1]'],
  ['pop -1', U, [5, -1], '1 | [5,1,3]'],
  ['pop missing', EMPTY, [5, 0], 'nil | (none)'],
  ['pop_range 1 2', U, [6, 1, 2], '[1,3] | [5,1]'],
  ['pop_range 1', U, [6, 1], '[1,3,1] | [5]'],
  ['pop_range 9', U, [6, 9], '[] | [5,1,3,1]'],
  ['pop_range -2', U, [6, -2], '[3,1] | [5,1]'],
  ['pop_range 0 0', U, [6, 0, 0], '[] | [5,1,3,1]'],
  ['remove 0', U, [7, 0], '1 | [1,3,1]'],
  ['remove 9', U, [7, 9], 'ERR 26 | [5,1,3,1]'],
  ['remove_range 1 2', U, [8, 1, 2], '2 | [5,1]'],
  ['remove_range 1', U, [8, 1], '3 | [5]'],
  ['remove_range 9 1', U, [8, 9, 1], '0 | [5,1,3,1]'],
  ['remove_range before the list', U, [8, -6, 3], '1 | [1,3,1]'],
  ['remove_range of a negative count is to the end', U, [8, 1, -1], '3 | [5]'],
  ['trim 1 2', U, [10, 1, 2], '2 | [1,3]'],
  ['trim 0 0', U, [10, 0, 0], '4 | []'],
  ['trim 9 1', U, [10, 9, 1], '4 | []'],
  ['trim missing', EMPTY, [10, 0, 1], 'nil | (none)'],
  ['trim -2 9', U, [10, -2, 9], '2 | [3,1]'],
  ['trim without count', U, [10, 0], 'ERR 4 | [5,1,3,1]'],
  ['clear', U, [11], 'nil | []'],
  ['clear ordered', O, [11], 'nil | [#1 ]'],
  ['clear missing', EMPTY, [11], 'nil | (none)'],
  ['remove_by_value 1, count', U, [35, 5, 1], '2 | [5,3]'],
  ['remove_by_index 1, value', U, [32, 7, 1], '1 | [5,3,1]'],
  ['remove_by_index 9, value', U, [32, 7, 9], 'ERR 26 | [5,1,3,1]'],
  ['remove_by_rank 0, value', U, [34, 7, 0], '1 | [5,3,1]'],
  ['remove_by_value_list inverted, count', U, [36, 0x10005, list(1)], '2 | [1,1]'],
  ['remove_by_rank_range 0 2, none', U, [39, 0, 0, 2], 'nil | [5,3]'],
  ['remove_by_value_interval, value', U, [38, 7, 1, 5], '[1,3,1] | [5]'],
  ['remove all', U, [37, 0, 0], 'nil | []'],
  ['remove_by_value_rel_rank_range', U, [40, 7, 3, 0], '[3,5] | [1,1]'],
  ['remove_by_value of one element', U, [33, 1, 1], '1 | [5,3,1]'],
  ['remove_by_value of an element that is not there', U, [33, 7, 9], 'nil | [5,1,3,1]'],
  ['remove by value from a missing bin', EMPTY, [35, 5, 1], 'nil | (none)'],
]

const MISTAKES: Row[] = [
  ['an opcode that does not exist', U, [60, 1], 'ERR 4 | [5,1,3,1]'],
  ['too few arguments', U, [3, 1], 'ERR 4 | [5,1,3,1]'],
  ['too many arguments', U, [1, 1, 1, 1, 1], 'ERR 4 | [5,1,3,1]'],
  ['an index that is not an integer', U, [3, 'a', 1], 'ERR 4 | [5,1,3,1]'],
  ['a reading call', U, [17, 0], 'ERR 4 | [5,1,3,1]'],
]

for (const [title, rows] of Object.entries({ ORDER, ADDITIONS, REPLACEMENTS, REMOVALS, MISTAKES })) {
  describe(`list calls that change: ${title.toLowerCase()}`, () => {
    for (const [name, bin, call, expected] of rows) {
      it(name, () => {
        expect(modify(bin, call)).to.equal(expected)
      })
    }
  })
}
