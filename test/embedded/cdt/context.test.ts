import { expect } from 'chai'
import { parseContext, readAt } from '#src/embedded/cdt/index.js'
import type { Value } from '#src/embedded/value/value.js'
import { ANY, list, map, modify, ordered, read, show, type Call } from './notation.js'

const LISTS = list(list(1, 2), list(3), map(0, ['k', list(7)]))
const MAPS = map(1, ['a', map(1, ['x', 1])], ['b', list(5, 6)])
const LISTS_SAME = '[[1,2],[3],{"k":[7]}]'
const MAPS_SAME = '{#1 "a":{#1 "x":1},"b":[5,6]}'
const MISSING = undefined

const INDEX = 0x10
const RANK = 0x11
const VALUE = 0x13
const MAP_INDEX = 0x20
const MAP_RANK = 0x21
const KEY = 0x22
const MAP_VALUE = 0x23
const CREATE = 0x40
const CREATE_PADDED = 0x80
const CREATE_KEY_ORDERED = 0x80
const CREATE_ORDERED = 0xc0
const PERSIST = 0x100

/** Answers of a real server: a name, the bin, the context, the call, `answer | bin afterwards`. */
type Row = [string, Value | undefined, Value[], Call, string]

const CHANGES: Row[] = [
  ['list index', LISTS, [INDEX, 0], [1, 9], '3 | [[1,2,9],[3],{"k":[7]}]'],
  ['list index, then map key', LISTS, [INDEX, -1, KEY, 'k'], [1, 9], '2 | [[1,2],[3],{"k":[7,9]}]'],
  ['list index that is not there', LISTS, [INDEX, 9], [1, 9], `ERR 26 | ${LISTS_SAME}`],
  ['map key', MAPS, [KEY, 'a'], [67, 'y', 2], '2 | {#1 "a":{#1 "x":1,"y":2},"b":[5,6]}'],
  ['map key that is not there', MAPS, [KEY, 'zz'], [67, 'y', 2], `ERR 26 | ${MAPS_SAME}`],
  [
    'a key created in an ordered map',
    MAPS,
    [KEY | CREATE_KEY_ORDERED, 'zz'],
    [67, 'y', 2],
    '1 | {#1 "a":{#1 "x":1},"b":[5,6],"zz":{"y":2}}',
  ],
  [
    'a key created, unordered',
    MAPS,
    [KEY | CREATE, 'zz'],
    [67, 'y', 2],
    '1 | {#1 "a":{#1 "x":1},"b":[5,6],"zz":{"y":2}}',
  ],
  ['a list created', MAPS, [KEY | CREATE, 'zz'], [1, 2], '1 | {#1 "a":{#1 "x":1},"b":[5,6],"zz":[2]}'],
  [
    'a list created: its own order counts',
    MAPS,
    [KEY | CREATE_ORDERED, 'zz'],
    [1, 2],
    '1 | {#1 "a":{#1 "x":1},"b":[5,6],"zz":[2]}',
  ],
  ['a step into a scalar', MAPS, [KEY, 'a', KEY, 'x'], [67, 'y', 2], `ERR 12 | ${MAPS_SAME}`],
  ['a step beyond a scalar', MAPS, [KEY, 'a', KEY, 'x', KEY, 'y'], [67, 'y', 2], `ERR 26 | ${MAPS_SAME}`],
  ['a map key on a list', LISTS, [KEY, 'k'], [67, 'y', 2], `ERR 26 | ${LISTS_SAME}`],
  ['a list index on a map', MAPS, [INDEX, 0], [67, 'y', 2], `ERR 26 | ${MAPS_SAME}`],
  ['an index of either kind', LISTS, [0, 0], [1, 9], '3 | [[1,2,9],[3],{"k":[7]}]'],
  ['a missing bin', MISSING, [KEY, 'a'], [67, 'y', 2], 'ERR 26 | (none)'],
  ['a missing bin created', MISSING, [KEY | CREATE_KEY_ORDERED, 'a'], [67, 'y', 2], '1 | {#1 "a":{"y":2}}'],
  [
    'a missing bin created with two levels',
    MISSING,
    [KEY | CREATE_KEY_ORDERED, 'a', KEY | CREATE_KEY_ORDERED, 'b'],
    [67, 'y', 2, 1],
    '1 | {#1 "a":{#1 "b":{#1 "y":2}}}',
  ],
  [
    'only the first missing level needs to say create',
    MISSING,
    [KEY | CREATE, 'a', INDEX, 0],
    [1, 7],
    '1 | {"a":[[7]]}',
  ],
  [
    'a bin with a persisted index created',
    MISSING,
    [KEY | CREATE_KEY_ORDERED | PERSIST, 'a'],
    [1, 7],
    '1 | {#1 "a":[7]}',
  ],
  [
    'a persisted index below the bin',
    MISSING,
    [KEY | CREATE, 'a', KEY | CREATE | PERSIST, 'b'],
    [1, 7],
    'ERR 26 | (none)',
  ],
  ['list_create at the end', LISTS, [INDEX | CREATE, 3], [0, 0], 'nil | [[1,2],[3],{"k":[7]},[]]'],
  ['list_create beyond the end', LISTS, [INDEX | CREATE, 5], [0, 0], `ERR 26 | ${LISTS_SAME}`],
  [
    'list_create beyond the end with padding',
    LISTS,
    [INDEX | CREATE_PADDED, 5],
    [0, 0],
    'nil | [[1,2],[3],{"k":[7]},nil,nil,[]]',
  ],
  ['list_create ordered', LISTS, [INDEX | CREATE_ORDERED, 3], [0, 1], 'nil | [[1,2],[3],{"k":[7]},[#1 ]]'],
  ['a padded list created in a missing bin', MISSING, [INDEX | CREATE_PADDED, 2], [1, 9], '1 | [nil,nil,[9]]'],
  ['an ordered list created in a missing bin', MISSING, [INDEX | CREATE_ORDERED, 2], [1, 9], '1 | [#1 [9]]'],
  ['a bounded list created in a missing bin', MISSING, [INDEX | CREATE, 2], [1, 9], 'ERR 26 | (none)'],
  ['map_create', MAPS, [KEY | CREATE_KEY_ORDERED, 'q'], [64, 1], 'nil | {#1 "a":{#1 "x":1},"b":[5,6],"q":{#1 }}'],
  ['map_create of what exists', MAPS, [KEY | CREATE_KEY_ORDERED, 'a'], [64, 1], `nil | ${MAPS_SAME}`],
  ['removing the last entry', MAPS, [KEY, 'a'], [76, 0, 'x'], 'nil | {#1 "a":{#1 },"b":[5,6]}'],
  ['keys in a list', MAPS, [0x2a, list('a')], [76, 0, 'x'], `ERR 26 | ${MAPS_SAME}`],
  ['a filter', MAPS, [0x04, true], [76, 0, 'x'], `ERR 26 | ${MAPS_SAME}`],
  ['a removal creates nothing', MAPS, [KEY | CREATE, 'zz'], [76, 7, 'x'], `nil | ${MAPS_SAME}`],
  [
    'a write that the flags leave out creates nothing',
    MAPS,
    [KEY | CREATE, 'zz'],
    [67, 'x', 1, 0, 6],
    `0 | ${MAPS_SAME}`,
  ],
  [
    'a list in an ordered list moves to its new place',
    ordered(list(1), list(2)),
    [INDEX, 0],
    [9, 0, 7],
    'nil | [#1 [2],[7]]',
  ],
  [
    'a created element of an ordered list is sorted in',
    ordered(list(5), list(7)),
    [INDEX | CREATE_ORDERED, 2],
    [1, 6],
    '1 | [#1 [5],[6],[7]]',
  ],
  ['any index creates in an ordered list', ordered(list(5)), [INDEX | CREATE, 9], [1, 6], '1 | [#1 [5],[6]]'],
  ['a wildcard as created key', MAPS, [KEY | CREATE, list(ANY)], [1, 1], `ERR 26 | ${MAPS_SAME}`],
  ['an index that is not an integer', LISTS, [INDEX, 'a'], [1, 1], `ERR 26 | ${LISTS_SAME}`],
  ['half a level', LISTS, [INDEX], [1, 1], `ERR 4 | ${LISTS_SAME}`],
  ['no level', LISTS, [], [1, 1], `ERR 4 | ${LISTS_SAME}`],
  ['a bin that is not a container', 5, [INDEX, 0], [1, 1], 'ERR 4 | 5'],
]

describe('changing calls in a context', () => {
  for (const [name, bin, context, call, expected] of CHANGES) {
    it(name, () => {
      expect(modify(bin, call, list(...context))).to.equal(expected)
    })
  }
})

const READS: [string, Value, Value[], Call, string][] = [
  ['list rank', LISTS, [RANK, 0], [16], '2'],
  ['list value', LISTS, [VALUE, list(3)], [16], '1'],
  ['list value that is not there', LISTS, [VALUE, list(9)], [16], 'ERR 26'],
  ['list value with a wildcard', LISTS, [VALUE, list(1, ANY)], [16], '2'],
  ['list index that is not there', LISTS, [INDEX, 9], [16], 'ERR 26'],
  ['list index that would be created', LISTS, [INDEX | CREATE, 3], [16], 'ERR 26'],
  ['map index', MAPS, [MAP_INDEX, 0], [96], '1'],
  ['map rank', MAPS, [MAP_RANK, 0], [16], '2'],
  ['map value', MAPS, [MAP_VALUE, list(5, 6)], [16], '2'],
  ['map value that is not there', MAPS, [MAP_VALUE, list(5)], [16], 'ERR 26'],
  ['a bin that is not a container', 'text', [INDEX, 0], [16], 'ERR 4'],
]

describe('reading calls in a context', () => {
  for (const [name, bin, context, call, expected] of READS) {
    it(name, () => {
      expect(read(bin, call, list(...context))).to.equal(expected)
    })
  }

  it('lead to any value, for indexes on nested values', () => {
    expect(show(readAt(LISTS, parseContext(list(INDEX, 2, KEY, 'k', INDEX, 0))))).to.equal('7')
  })
})
