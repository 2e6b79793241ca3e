import { expect } from 'chai'
import { parsePathOperation, readExpression, runPath } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { ListValue, MapValue, type Value } from '#src/embedded/value/value.js'
import { expressionBytes, raw, type Written } from './expression-bytes.js'
import { list, map, sampleRecord } from './sample-record.js'

type Observed = Value | { code: number }
const UNKNOWN = { code: 26 }
const INVALID = { code: 4 }
const WRONG_TYPE = { code: 12 }

const [INT, STR, LIST, MAP] = [2, 3, 4, 5]
const [TREE, VALUES, KEYS, ENTRIES, CHANGE, NO_FAIL] = [0, 1, 2, 3, 4, 16]
const LIST_INDEX: Written[] = [0x10]
const MAP_KEY: Written[] = [0x22]
const ALL: Written[] = [4, true]
const where = (filter: Written): Written[] => [4, filter]
const andWhere = (filter: Written): Written[] => [0x204, filter]
const keysIn = (...keys: Value[]): Written[] => [0x2a, list(...keys)]
const path = (...levels: Written[][]): Written => levels.flat()

const key = (type: number): Written => [122, type, 0]
const value = (type: number): Written => [122, type, 1]
const index: Written = [122, INT, 2]
const above = (limit: number): Written => [3, value(INT), limit]
const REMOVE: Written = [100]
const TRUE: Written = [18, false]

const numbers = list(5, 1, 3)
const ordered = new ListValue([1, 3, 5], 1)
const people = map(['ann', map(['age', 30], ['tags', list('x', 'y')])], ['bob', map(['age', 20])])

function run(levels: Written, flags: number, subject: Value, change?: Written): Observed {
  const written: Written = change === undefined ? [254, levels, flags] : [254, levels, flags | CHANGE, change]
  return answer(() => runPath(parsePathOperation(expressionBytes(written), change !== undefined), subject))
}

function answer(work: () => Value): Observed {
  try {
    return work()
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code }
    throw error
  }
}

/** Lists and maps remember their encoded size once it was asked for; it is not part of the value. */
function plain(observed: unknown): unknown {
  return JSON.parse(JSON.stringify(observed, (name, each: unknown) => (name === 'size' ? undefined : each)))
}

function bare(...pairs: [Value, Value][]): MapValue {
  const { keys, values } = map(...pairs)
  return new MapValue(keys, values)
}

type Row = [name: string, levels: Written, flags: number, subject: Value, answer: Observed]

const SELECTIONS: Row[] = [
  ['all children of a list', path(ALL), VALUES, numbers, list(5, 1, 3)],
  ['keys of a map', path(ALL), KEYS, people, list('ann', 'bob')],
  ['keys and values in turn', path(ALL, [MAP_KEY[0], 'age']), ENTRIES, people, list('age', 30, 'age', 20)],
  ['keys of a list', path(ALL), KEYS, numbers, WRONG_TYPE],
  ['keys of a list with NO_FAIL', path(ALL), KEYS | NO_FAIL, numbers, list()],
  ['keys of an empty list', path(ALL), KEYS, list(), list()],
  ['a filter on values', path(where(above(2))), VALUES, numbers, list(5, 3)],
  ['a filter on indexes', path(where([3, index, 0])), VALUES, numbers, list(1, 3)],
  ['a filter on keys', path(where([1, key(STR), 'bob'])), KEYS, people, list('bob')],
  ['an index of a map is unknown', path(where([3, index, 0])), VALUES, people, INVALID],
  ['what is unknown is passed over with NO_FAIL', path(where([3, index, 0])), VALUES | NO_FAIL, people, list()],
  ['a key given twice counts once', path(keysIn('bob', 'ann', 'bob')), KEYS, people, list('ann', 'bob')],
  ['keys with a further filter', path(keysIn('ann', 'bob'), andWhere([1, key(STR), 'bob'])), KEYS, people, list('bob')],
  ['all equal elements', path([0x13, 1]), VALUES, list(1, 2, 1), list(1, 1)],
  ['all equal entries', path([0x23, 1]), KEYS, map(['a', 1], ['b', 2], ['c', 1]), list('a', 'c')],
  ['a tree keeps scalars it cannot enter', path(ALL, ALL), TREE, list(1, list(2)), list(1, list(2))],
  [
    'a tree has no order of its own',
    path(ALL, [MAP_KEY[0], 'age']),
    TREE,
    map(['bob', map(['age', 1])]),
    bare(['bob', bare(['age', 1])]),
  ],
  ['a missing child', path([LIST_INDEX[0], 9]), VALUES, numbers, list()],
  ['a map where a list is needed', path([LIST_INDEX[0], 0]), VALUES | NO_FAIL, people, INVALID],
  ['a scalar', path(ALL), VALUES | NO_FAIL, 5, WRONG_TYPE],
]

const MALFORMED: [string, Written][] = [
  ['no levels', []],
  ['half a level', [4]],
  ['a level that does not exist', [0x2b, 1]],
  ['a level that creates', [0x22 | 0x40, 'a']],
  ['an index that is not an integer', [0x10, 'a']],
  ['keys that are not a list', [0x2a, 'a']],
  ['a filter that is false', path(where(false))],
  ['a filter that is not a boolean', path(where([20, 1, 2]))],
  ['a filter that cannot be compiled', path(where([99]))],
  ['a further filter that comes first', path(andWhere(TRUE))],
  ['a further filter after all children', path(ALL, andWhere(TRUE))],
  ['a further filter after a filter', path(where(TRUE), andWhere(TRUE))],
  ['two further filters', path([0x22, 'a'], andWhere(TRUE), andWhere(TRUE))],
  ['a further filter after one that is true', path([0x22, 'a'], andWhere(true), andWhere(TRUE))],
]

type Change = [name: string, levels: Written, flags: number, subject: Value, change: Written, answer: Observed]

const CHANGES: Change[] = [
  ['every child', path(ALL), 0, numbers, [22, value(INT), 2], list(10, 2, 6)],
  ['nothing where nothing is found', path([LIST_INDEX[0], 9]), 0, numbers, 7, numbers],
  ['an ordered list stays ordered', path([LIST_INDEX[0], 0]), 0, ordered, 9, new ListValue([3, 5, 9], 1)],
  ['a removal', path(where(above(2))), 0, numbers, REMOVE, list(1)],
  ['a removal on a condition', path(ALL), 0, numbers, [123, above(2), REMOVE, [0]], { code: 1 }],
  ['the same with NO_FAIL', path(ALL), NO_FAIL, numbers, [123, above(2), REMOVE, [0]], list(1)],
  ['a removal or a number', path(ALL), NO_FAIL, numbers, [123, above(2), REMOVE, 1], INVALID],
  ['a number or nothing known', path(ALL), 0, list('a'), [20, value(INT), 1], { code: 1 }],
  ['what is unknown stays with NO_FAIL', path(ALL), NO_FAIL, list('a', 1), [20, value(INT), 1], list('a', 2)],
  [
    'a removal is not an argument',
    path(ALL),
    NO_FAIL,
    list(list()),
    [127, LIST, 64, [1, REMOVE], value(LIST)],
    INVALID,
  ],
  ['a scalar is refused before a malformed path', path(where(false)), 0, 5, 1, WRONG_TYPE],
  ['children that cannot be entered stay', path(ALL, ALL), 0, list(1, list(2)), 0, list(1, list(0))],
]

describe('A selection by path answers', () => {
  for (const [name, levels, flags, subject, observed] of SELECTIONS) {
    it(name, () => expect(plain(run(levels, flags, subject))).to.deep.equal(plain(observed)))
  }

  for (const [name, levels] of MALFORMED) {
    it(`answers 4 for ${name}`, () => expect(run(levels, VALUES | NO_FAIL, people)).to.deep.equal(INVALID))
  }

  it('answers 4 for unknown flags', () => expect(run(path(ALL), 0x20, people)).to.deep.equal(INVALID))
})

describe('A change by path makes', () => {
  for (const [name, levels, flags, subject, change, observed] of CHANGES) {
    it(name, () => expect(plain(run(levels, flags, subject, change))).to.deep.equal(plain(observed)))
  }

  it('no read of a change, and no change of a read', () => {
    const select = expressionBytes([254, ALL, VALUES])
    const change = expressionBytes([254, ALL, CHANGE, 1])
    expect(answer(() => runPath(parsePathOperation(select, true), numbers))).to.deep.equal(INVALID)
    expect(answer(() => runPath(parsePathOperation(change, false), numbers))).to.deep.equal(INVALID)
  })
})

const l: Written = [81, LIST, raw('l')]
const select = (levels: Written, flags: number, subject: Written): Written => [
  127,
  LIST,
  0,
  [254, levels, flags],
  subject,
]

const EXPRESSIONS: [string, Written, Observed][] = [
  ['a selection', select(path(where(above(2))), VALUES, l), list(5, 3)],
  ['a selection of another type', [127, MAP, 0, [254, ALL, VALUES], l], UNKNOWN],
  ['a change', [127, LIST, 64, [254, ALL, CHANGE, index], l], list(0, 1, 2)],
  ['a malformed path is unknown', select(path(where(false)), VALUES, l), UNKNOWN],
  ['a malformed path does no harm where it is not needed', [123, true, 1, [127, INT, 0, [254, [], 1], l]], 1],
  [
    'a path within a filter',
    select(path(where([1, [127, INT, 0, [16], select(ALL, VALUES, value(LIST))], 2])), VALUES, [
      126,
      list(list(1), list(1, 2)),
    ]),
    list(list(1, 2)),
  ],
  [
    'variables around a path are out of its sight',
    [125, raw('x'), 2, select(path(where([3, value(INT), [124, raw('x')]])), VALUES, l)],
    UNKNOWN,
  ],
  [
    'variables of a path are its own',
    [125, raw('x'), 9, select(path(where([125, raw('x'), 2, [3, value(INT), [124, raw('x')]]])), VALUES, l)],
    list(5, 3),
  ],
  ['bins are unknown on a path', select(path(where([3, [81, INT, raw('i')], 0])), VALUES, l), UNKNOWN],
  ['so are the types of bins', select(path(where([2, [82, raw('i')], 0])), VALUES | NO_FAIL, l), list()],
  ['a loop variable outside of a path is unknown', value(INT), UNKNOWN],
  ['a removal outside of a path is unknown', REMOVE, UNKNOWN],
  ['a loop variable of a type that does not exist', [122, 10, 1], INVALID],
  ['a loop variable of a part that does not exist', [122, INT, 3], INVALID],
]

describe('Paths in expressions', () => {
  for (const [name, expression, observed] of EXPRESSIONS) {
    it(name, () => {
      const got = answer(() => readExpression(expressionBytes([expression, 0]), sampleRecord()))
      expect(plain(got)).to.deep.equal(plain(observed))
    })
  }
})
