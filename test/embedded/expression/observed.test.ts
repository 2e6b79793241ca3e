import { expect } from 'chai'
import { encodedSize } from '#src/embedded/value/encoded-size.js'
import { compileExpression, evaluate, readExpression } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { ListValue, MapValue, type Value } from '#src/embedded/value/value.js'
import { expressionBytes, f, raw, type Written } from './expression-bytes.js'
import { blob, list, map, POINT, sampleRecord } from './sample-record.js'

/** Answer of a real server: a value, or the result code of an error. */
type Observed = Value | { code: number }
const UNKNOWN = { code: 26 }
const INVALID = { code: 4 }

const bin = (type: number, name: string): Written => [81, type, raw(name)]
const i = bin(2, 'i')
const l = bin(4, 'l')
const m = bin(5, 'm')
const quote = (...items: Value[]): Written => [126, list(...items)]

const VALUES: [string, Written, Observed][] = [
  ['bool', true, true],
  ['int', 5, 5],
  ['negative int', -5, -5],
  ['float', f(1.5), f(1.5)],
  ['str', 'x', 'x'],
  ['bytes', blob(9), blob(9)],
  ['geo', POINT, POINT],
  ['nil', null, null],
  ['list', quote(1, 'a'), list(1, 'a')],
  ['map', map(['a', 1]), map(['a', 1])],
  ['unknown', [0], UNKNOWN],
  ['keyStr', [80, 3], 'E'],
  ['keyInt of a string key', [80, 2], UNKNOWN],
  ['key of a type that no key has', [80, 7], INVALID],
  ['keyExist', [71], true],
  ['binInt', i, 7],
  ['binStr', bin(3, 's'), 'hello'],
  ['binFloat', bin(7, 'f'), f(2.5)],
  ['binBool', bin(1, 't'), true],
  ['binBlob', bin(6, 'b'), blob(1, 2, 3)],
  ['binList', l, list(5, 1, 3)],
  ['binMap', bin(5, 'mm'), map(['a', map(['k', 5])])],
  ['binGeo', bin(8, 'g'), POINT],
  ['binType', [82, raw('i')], 1],
  ['binType missing', [82, raw('zz')], 0],
  ['binType list', [82, raw('l')], 20],
  ['binExists', [2, [82, raw('i')], 0], true],
  ['binInt missing', bin(2, 'zz'), UNKNOWN],
  ['binInt of a string', bin(2, 's'), UNKNOWN],
  ['bin of no type', [81, 10, raw('i')], INVALID],
  ['bin with a name of 16 bytes', bin(2, 'a234567890123456'), INVALID],
  ['setName', [70], 'demo'],
  ['deviceSize', [65], 0],
  ['memorySize', [73], 272],
  ['recordSize', [74], 272],
  ['lastUpdate', [66], 1794787015092000000n],
  ['voidTime never', [68], -1],
  ['ttl never', [69], -1],
  ['isTombstone as the Node client sends it', [18], INVALID],
  ['isTombstone', [72], false],
  ['digestModulo without its number', [64], INVALID],
  ['digestModulo by zero', [64, 0], INVALID],
  ['digestModulo', [64, 3], 1],
]

const COMPARISONS: [string, Written, Observed][] = [
  ['eq', [1, i, 7], true],
  ['ne', [2, i, 7], false],
  ['gt', [3, i, 5], true],
  ['ge', [4, i, 7], true],
  ['lt', [5, i, 7], false],
  ['le', [6, i, 7], true],
  ['eq str', [1, bin(3, 's'), 'hello'], true],
  ['lt str', [5, 'abc', 'abd'], true],
  ['eq list', [1, l, quote(5, 1, 3)], true],
  ['lt list', [5, quote(1, 2), quote(1, 2, 0)], true],
  ['eq map', [1, map(['a', 1]), map(['a', 1])], true],
  ['lt map', [5, map(['a', 1]), map(['a', 2])], true],
  ['lt map by size', [5, map(['z', 9]), map(['a', 1], ['b', 1])], true],
  ['eq bool', [1, true, true], true],
  ['gt bool', [3, true, false], true],
  ['eq blob', [1, bin(6, 'b'), blob(1, 2, 3)], true],
  ['eq nil', [1, null, null], true],
  ['eq int/float', [1, i, f(7)], INVALID],
  ['eq int/nil', [1, i, null], INVALID],
  ['eq geo', [1, POINT, POINT], INVALID],
  ['eq NaN', [1, f(NaN), f(NaN)], false],
  ['ne NaN', [2, f(NaN), f(NaN)], true],
  ['le NaN', [6, f(NaN), f(1)], false],
  ['eq beyond 2^53', [1, 9007199254740993n, 9007199254740993n], true],
  ['lt beyond 2^53', [5, 5, 9007199254740993n], true],
  ['three operands', [1, 1, 1, 1], INVALID],
  ['regex', [7, 0, raw('he.*o'), bin(3, 's')], true],
  ['regex icase', [7, 2, raw('HE.*'), bin(3, 's')], true],
  ['regex basic a+', [7, 0, raw('l+'), bin(3, 's')], false],
  ['regex extended l+', [7, 1, raw('l+'), bin(3, 's')], true],
  ['regex nosub', [7, 8, raw('ell'), bin(3, 's')], true],
  ['regex on an integer', [7, 0, raw('a'), i], INVALID],
  ['regex of an unknown string', [7, 0, raw('a'), bin(3, 'zz')], UNKNOWN],
  ['in_list', [9, i, quote(1, 7)], true],
  ['in_list missing', [9, i, quote(1, 8)], false],
  ['in_list str', [9, 'x', quote('a', 'x')], true],
  ['in_list another type', [9, f(1), quote(1)], false],
  ['in_list without list', [9, i, 7], INVALID],
  ['in_list unknown', [9, bin(2, 'zz'), quote(1)], UNKNOWN],
  ['map_keys', [101, m], list('a', 'b', 'n')],
  ['map_values', [102, m], list(1, 2, map(['z', 1]))],
  ['map_keys of a list', [101, l], UNKNOWN],
]

const LOGIC: [string, Written, Observed][] = [
  ['not', [18, true], false],
  ['and', [16, true, false], false],
  ['and all', [16, true, true, true], true],
  ['or', [17, true, false], true],
  ['or none', [17, false, false], false],
  ['exclusive two true', [19, true, true], false],
  ['exclusive one of three', [19, false, true, false], true],
  ['exclusive none', [19, false, false], false],
  ['exclusive unknown', [19, true, [0], true], UNKNOWN],
  ['exclusive decided before unknown', [19, true, true, [0]], false],
  ['and false,unknown', [16, false, [1, bin(2, 'zz'), 1]], false],
  ['and unknown,false', [16, [0], false], false],
  ['and unknown,true', [16, [0], true], UNKNOWN],
  ['or unknown,true', [17, [0], true], true],
  ['or unknown,false', [17, [0], false], UNKNOWN],
  ['not unknown', [18, [0]], UNKNOWN],
  ['and of one', [16, true], INVALID],
  ['and of an integer', [16, true, 1], INVALID],
  ['cond', [123, [3, i, 5], 'big', 'small'], 'big'],
  ['cond second', [123, false, 1, true, 2, 3], 2],
  ['cond default unknown', [123, [3, i, 50], 1, [0]], UNKNOWN],
  ['cond unknown beside a value', [123, [3, i, 5], 1, [0]], 1],
  ['cond test unknown', [123, [0], 1, 2], UNKNOWN],
  ['cond mixed types', [123, true, 1, 'x'], INVALID],
  ['cond without default', [123, true, 1], INVALID],
  ['let', [125, raw('x'), i, raw('y'), 2, [20, [124, raw('x')], [124, raw('y')]]], 9],
  ['let sees earlier names', [125, raw('x'), 1, raw('y'), [20, [124, raw('x')], 1], [124, raw('y')]], 2],
  ['let with an unused unknown', [125, raw('x'), bin(2, 'zz'), 5], 5],
  ['let with a used unknown', [125, raw('x'), bin(2, 'zz'), [20, [124, raw('x')], 1]], UNKNOWN],
  ['let used twice in a row', [20, [125, raw('x'), 1, [124, raw('x')]], [125, raw('x'), 2, [124, raw('x')]]], 3],
  ['let inside let', [125, raw('x'), 1, [125, raw('y'), 2, [20, [124, raw('x')], [124, raw('y')]]]], 3],
  ['let with the same name inside', [125, raw('x'), 1, [125, raw('x'), 2, [124, raw('x')]]], INVALID],
  ['let that uses itself', [125, raw('x'), [124, raw('x')], 1], INVALID],
  ['let with a bad name', [125, raw('1x'), 1, 1], INVALID],
  ['let without body', [125, raw('x'), 1], INVALID],
  ['var undefined', [124, raw('x')], INVALID],
  ['var after its let', [20, [125, raw('x'), 1, [124, raw('x')]], [124, raw('x')]], INVALID],
  ['quote of no list', [126, 1], INVALID],
  ['operator without number', [], INVALID],
  ['unknown operator', [200], INVALID],
  ['operator beyond all', [-1], INVALID],
]

const NUMBERS: [string, Written, Observed][] = [
  ['add', [20, i, 2, 3], 12],
  ['add one', [20, 5], 5],
  ['add none', [20], INVALID],
  ['add overflow', [20, 9223372036854775807n, 1], -9223372036854775808n],
  ['add mixed', [20, i, bin(7, 'f')], INVALID],
  ['add floats', [20, f(1.5), f(2)], f(3.5)],
  ['sub', [21, i, 2], 5],
  ['sub one', [21, 5], -5],
  ['sub float', [21, f(1.5)], f(-1.5)],
  ['mul', [22, i, 2], 14],
  ['mul overflow', [22, 9223372036854775807n, 2], -2],
  ['mul by zero', [22, 0, -5], 0],
  ['div', [23, i, 2], 3],
  ['div negative', [23, -7, 2], -3],
  ['div one', [23, 5], 0],
  ['div by zero', [23, i, 0], UNKNOWN],
  ['div by several', [23, 100, 3, 4], 8],
  ['div floats', [23, f(1), f(0)], f(Infinity)],
  ['pow', [24, f(2.5), f(2)], f(6.25)],
  ['pow of integers', [24, 2, 2], INVALID],
  ['log', [25, f(8), f(2)], f(3)],
  ['mod', [26, 7, 4], 3],
  ['mod negative', [26, -7, 4], -3],
  ['mod zero result', [26, -8, 4], 0],
  ['mod by zero', [26, 7, 0], UNKNOWN],
  ['abs', [27, -7], 7],
  ['abs float', [27, f(-2.5)], f(2.5)],
  ['abs of the smallest', [27, -9223372036854775808n], -9223372036854775808n],
  ['abs of a string', [27, 'a'], INVALID],
  ['floor', [28, f(2.5)], f(2)],
  ['ceil', [29, f(2.5)], f(3)],
  ['to_int', [30, f(2.9)], 2],
  ['to_int negative', [30, f(-2.9)], -2],
  ['to_int of NaN', [30, f(NaN)], -9223372036854775808n],
  ['to_int out of range', [30, f(1e30)], -9223372036854775808n],
  ['to_int of an integer', [30, 2], INVALID],
  ['to_float', [31, 7], f(7)],
  ['min', [50, 3, 1, 2], 1],
  ['max', [51, 3, 1, 4], 4],
  ['min floats', [50, f(2), f(1)], f(1)],
  ['min mixed', [50, 1, f(1)], INVALID],
  ['int_and', [32, 6, 3], 2],
  ['int_and one', [32, 5], 5],
  ['int_and wide', [32, -1, 9223372036854775807n], 9223372036854775807n],
  ['int_or', [33, 6, 3], 7],
  ['int_xor', [34, 6, 3], 5],
  ['int_not', [35, 6], -7],
  ['int_not wide', [35, 9223372036854775807n], -9223372036854775808n],
  ['lshift', [36, 6, 1], 12],
  ['lshift out', [36, 1, 63], -9223372036854775808n],
  ['rshift', [37, -6, 1], 9223372036854775805n],
  ['arshift', [38, -6, 1], -3],
  ['count', [39, 7], 3],
  ['count of -1', [39, -1], 64],
  ['lscan', [40, 8, true], 60],
  ['lscan nothing', [40, 0, true], -1],
  ['lscan for zero', [40, 8, false], 0],
  ['lscan in the high half', [40, 9223372036854775807n, true], 1],
  ['rscan', [41, 8, true], 60],
  ['rscan nothing', [41, 0, true], -1],
  ['rscan in the high half', [41, -9223372036854775808n, true], 0],
  ['rscan for zero', [41, 7, false], 60],
  ['lscan without bool', [40, 8, 1], INVALID],
  ['unknown operand', [20, 1, bin(2, 'zz')], UNKNOWN],
  ['unknown bits operand', [32, 1, bin(2, 'zz')], UNKNOWN],
]

/** Lists and maps remember their size once somebody has asked for it. */
function measured(value: Observed): Observed {
  if (value instanceof ListValue || value instanceof MapValue) encodedSize(value)
  return value
}

function answer(expression: Written): Observed {
  try {
    return readExpression(expressionBytes([expression, 0]), sampleRecord())
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code }
    throw error
  }
}

for (const [title, table] of Object.entries({ VALUES, COMPARISONS, LOGIC, NUMBERS })) {
  describe(`Expressions answer what a real server answered: ${title.toLowerCase()}`, () => {
    for (const [name, expression, observed] of table) {
      it(name, () => expect(measured(answer(expression))).to.deep.equal(measured(observed)))
    }
  })
}

describe('Compiled expressions', () => {
  it('are the same object for the same bytes', () => {
    expect(compileExpression(expressionBytes([20, 1, 2]))).to.equal(compileExpression(expressionBytes([20, 1, 2])))
  })

  it('do not depend on the buffer they were read from', () => {
    const bytes = expressionBytes([1, bin(6, 'b'), blob(1, 2, 3)])
    const compiled = compileExpression(bytes)
    bytes.fill(0)
    expect(evaluate(compiled, sampleRecord())).to.equal(true)
  })

  it('refuse what follows the expression', () => {
    expect(() => compileExpression(Buffer.from([1, 2])))
      .to.throw(CommandError)
      .with.property('code', 4)
  })

  it('refuse to be nested without end', () => {
    const nots = Array.from({ length: 100_000 }, () => [0x92, 18]).flat()
    expect(() => compileExpression(Buffer.from([...nots, 0xc3])))
      .to.throw(CommandError)
      .with.property('code', 4)
  })

  it('measure time to live in seconds', () => {
    const voidTime = Math.floor(Date.now() / 1000) - 1262304000 + 1000
    const record = sampleRecord({ voidTime })
    expect(evaluate(compileExpression(expressionBytes([69])), record)).to.be.within(1, 1000)
    expect(evaluate(compileExpression(expressionBytes([68])), record)).to.equal(
      BigInt(voidTime + 1262304000) * 1_000_000_000n,
    )
  })
})
