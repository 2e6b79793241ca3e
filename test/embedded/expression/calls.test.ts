import { expect } from 'chai'
import { readExpression } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { MAP_PRESERVE_ORDER, MapValue, type Value } from '#src/embedded/value/value.js'
import { expressionBytes, raw, type Written } from './expression-bytes.js'
import { list, map, sampleRecord } from './sample-record.js'

type Observed = Value | { code: number }
const UNKNOWN = { code: 26 }
const INVALID = { code: 4 }

const READ = 0
const MODIFY = 64
const [BOOL, INT, LIST, MAP] = [1, 2, 4, 5]
const l: Written = [81, LIST, raw('l')]
const m: Written = [81, MAP, raw('m')]
const mm: Written = [81, MAP, raw('mm')]
const quote = (...items: Value[]): Written => [126, list(...items)]
const read = (type: number, op: Written, subject: Written): Written => [127, type, READ, op, subject]
const modify = (type: number, op: Written, subject: Written): Written => [127, type, MODIFY, op, subject]
const nested = map(['z', 1])

const LISTS: [string, Written, Observed][] = [
  ['size', read(INT, [16], l), 3],
  ['getByValue', read(INT, [22, 5, 1], l), 1],
  ['getByValueRange the wrong way round', read(LIST, [25, 7, 5, 1], l), list()],
  ['getByValueList', read(LIST, [23, 7, quote(1, 5)], l), list(5, 1)],
  ['getByRelRankRange', read(LIST, [27, 7, 1, 0, 3], l), list(5, 3, 1)],
  ['getByIndex', read(INT, [19, 7, 0], l), 5],
  ['getByIndexRange to the end', read(LIST, [24, 7, 1], l), list(1, 3)],
  ['getByRank', read(INT, [21, 7, 0], l), 1],
  ['getByRankRange to the end', read(LIST, [26, 7, 1], l), list(3, 5)],
  ['append', modify(LIST, [1, 9], l), list(5, 1, 3, 9)],
  ['append with policy', modify(LIST, [1, 9, 0, 0], l), list(5, 1, 3, 9)],
  ['appendItems', modify(LIST, [2, quote(9, 8)], l), list(5, 1, 3, 9, 8)],
  ['insert', modify(LIST, [3, 0, 9], l), list(9, 5, 1, 3)],
  ['insertItems', modify(LIST, [4, 0, quote(9)], l), list(9, 5, 1, 3)],
  ['increment', modify(LIST, [12, 0, 4], l), list(9, 1, 3)],
  ['set', modify(LIST, [9, 0, 9], l), list(9, 1, 3)],
  ['clear', modify(LIST, [11], l), list()],
  ['sort', modify(LIST, [13, 0], l), list(1, 3, 5)],
  ['removeByValue', modify(LIST, [35, 0, 1], l), list(5, 3)],
  ['removeByValueList', modify(LIST, [36, 0, quote(1)], l), list(5, 3)],
  ['removeByIndex', modify(LIST, [32, 0, 0], l), list(1, 3)],
  ['removeByRankRange', modify(LIST, [39, 0, 0, 1], l), list(5, 3)],
  ['append to nil', modify(LIST, [1, 9], null), list(9)],
]

const MAPS: [string, Written, Observed][] = [
  ['size', read(INT, [96], m), 3],
  ['size through a context', read(INT, [255, [34, 'a'], [96]], mm), 1],
  ['getByKey', read(INT, [97, 7, 'a'], m), 1],
  ['getByKey missing', read(INT, [97, 7, 'zz'], m), UNKNOWN],
  ['getByKey exists', read(BOOL, [97, 13, 'zz'], m), false],
  ['getByKeyRange', read(LIST, [103, 6, 'a', 'c'], m), list('a', 'b')],
  ['getByKeyList', read(MAP, [107, 8, quote('a')], m), new MapValue(['a'], [1], MAP_PRESERVE_ORDER)],
  ['getByKey through a context', read(INT, [255, [34, 'a'], [97, 7, 'k']], mm), 5],
  ['getByIndex', read(INT, [98, 7, 0], m), 1],
  ['getByRank', read(INT, [100, 7, 0], m), 1],
  ['put', modify(MAP, [67, 'q', 9], m), map(['a', 1], ['b', 2], ['n', nested], ['q', 9])],
  ['put with policy', modify(MAP, [67, 'q', 9, 0, 0], m), map(['a', 1], ['b', 2], ['n', nested], ['q', 9])],
  ['put through a context', modify(MAP, [255, [34, 'a'], [67, 'q', 9]], mm), map(['a', map(['k', 5], ['q', 9])])],
  ['putItems', modify(MAP, [68, map(['q', 1])], m), map(['a', 1], ['b', 2], ['n', nested], ['q', 1])],
  ['increment', modify(MAP, [73, 'a', 5], m), map(['a', 6], ['b', 2], ['n', nested])],
  ['clear', modify(MAP, [75], m), map()],
  ['removeByKey', modify(MAP, [76, 0, 'a'], m), map(['b', 2], ['n', nested])],
  ['removeByKeyList', modify(MAP, [81, 0, quote('a')], m), map(['b', 2], ['n', nested])],
  ['removeByValue', modify(MAP, [82, 0, 1], m), map(['b', 2], ['n', nested])],
]

const RULES: [string, Written, Observed][] = [
  ['a list call on a map is unknown', read(INT, [16], m), UNKNOWN],
  ['an index out of range is unknown', read(INT, [19, 7, 9], l), UNKNOWN],
  ['a result of another type is unknown', read(LIST, [19, 7, 0], l), UNKNOWN],
  ['a call nobody knows is unknown', read(INT, [250], l), UNKNOWN],
  ['a reading call that modifies is unknown', read(INT, [1, 9], l), UNKNOWN],
  ['a call on what another call answers', read(INT, [16], modify(LIST, [1, 9], l)), 4],
  ['arguments are expressions', modify(LIST, [1, [20, [81, INT, raw('i')], 1]], l), list(5, 1, 3, 8)],
  ['an unknown argument makes the call unknown', modify(LIST, [1, [81, INT, raw('zz')]], l), UNKNOWN],
  ['an unknown subject makes the call unknown', read(INT, [16], [81, LIST, raw('zz')]), UNKNOWN],
  ['the bin itself is not changed', [16, [1, modify(LIST, [11], l), quote()], [1, l, quote(5, 1, 3)]], true],
  ['a read of nil is unknown', [123, true, read(INT, [16], null), null], UNKNOWN],
  ['the subject must be a list or map', read(INT, [16], 5), INVALID],
  ['the result must have a type', [127, 10, READ, [16], l], INVALID],
  ['a call on bits', [127, INT, 1, [51, 0, 8], [81, 6, raw('b')]], 1],
  ['a call on a bin that is not a sketch is unknown', [127, INT, 2, [50], [81, 9, raw('b')]], UNKNOWN],
  ['a family of calls that nobody knows', [127, INT, 3, [50], [81, 6, raw('b')]], INVALID],
  ['a context needs its call', read(INT, [255, [34, 'a']], mm), INVALID],
]

function answer(expression: Written): Observed {
  try {
    return readExpression(expressionBytes([expression, 0]), sampleRecord())
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code }
    throw error
  }
}

/** Lists and maps remember their encoded size once it was asked for; it is not part of the value. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, each: unknown) => (name === 'size' ? undefined : each)))
}

for (const [title, table] of Object.entries({ 'list calls': LISTS, 'map calls': MAPS, 'rules of calls': RULES })) {
  describe(`Expressions answer what a real server answered: ${title}`, () => {
    for (const [name, expression, observed] of table) {
      it(name, () => expect(plain(answer(expression))).to.deep.equal(plain(observed)))
    }
  })
}
