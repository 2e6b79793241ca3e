import { expect } from 'chai'
import {
  compileExpression,
  modifyExpression,
  passesFilter,
  readExpression,
  type ExpressionChange,
} from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { expressionBytes, raw, type Written } from './expression-bytes.js'
import { sampleRecord } from './sample-record.js'

const CREATE_ONLY = 1
const UPDATE_ONLY = 2
const ALLOW_DELETE = 4
const POLICY_NO_FAIL = 8
const EVAL_NO_FAIL = 16

const UNKNOWN: Written = [0]
const VALUE: Written = [20, [81, 2, raw('i')], 1]

type Code = { code: number }

function attempt<T>(work: () => T): T | Code {
  try {
    return work()
  } catch (error) {
    if (error instanceof CommandError) return { code: error.code }
    throw error
  }
}

const read = (...payload: Written[]) => attempt(() => readExpression(expressionBytes(payload), sampleRecord()))

describe('An expression read', () => {
  it('answers the value', () => expect(read(VALUE, 0)).to.equal(8))
  it('needs no flags', () => expect(read(VALUE)).to.equal(8))
  it('answers nil for nil', () => expect(read(null, 0)).to.equal(null))
  it('is not applicable where the value is unknown', () => expect(read(UNKNOWN, 0)).to.deep.equal({ code: 26 }))
  it('answers nil instead with EVAL_NO_FAIL', () => expect(read(UNKNOWN, EVAL_NO_FAIL)).to.equal(null))
  it('refuses the flags of a write', () => expect(read(VALUE, CREATE_ONLY)).to.deep.equal({ code: 4 }))
  it('refuses unknown flags', () => expect(read(VALUE, 32)).to.deep.equal({ code: 4 }))
  it('refuses an invalid expression even with EVAL_NO_FAIL', () =>
    expect(read([20], EVAL_NO_FAIL)).to.deep.equal({ code: 4 }))
  it('refuses an empty payload', () => expect(read()).to.deep.equal({ code: 4 }))
})

describe('An expression write', () => {
  const MISSING = 'zz'
  const PRESENT = 's'
  const CASES: [string, Written, number, string, ExpressionChange | Code][] = [
    ['creates a bin', VALUE, 0, MISSING, { value: 8 }],
    ['replaces a bin', VALUE, 0, PRESENT, { value: 8 }],
    ['with CREATE_ONLY creates', VALUE, CREATE_ONLY, MISSING, { value: 8 }],
    ['with CREATE_ONLY fails on a bin that exists', VALUE, CREATE_ONLY, PRESENT, { code: 6 }],
    ['with CREATE_ONLY | POLICY_NO_FAIL leaves it', VALUE, 9, PRESENT, { unchanged: true }],
    ['with UPDATE_ONLY replaces', VALUE, UPDATE_ONLY, PRESENT, { value: 8 }],
    ['with UPDATE_ONLY fails on a missing bin', VALUE, UPDATE_ONLY, MISSING, { code: 17 }],
    ['with UPDATE_ONLY | POLICY_NO_FAIL leaves it missing', VALUE, 10, MISSING, { unchanged: true }],
    ['of nil without ALLOW_DELETE fails', null, 0, PRESENT, { code: 26 }],
    ['of nil with POLICY_NO_FAIL leaves the bin', null, POLICY_NO_FAIL, PRESENT, { unchanged: true }],
    ['of nil with ALLOW_DELETE removes the bin', null, ALLOW_DELETE, PRESENT, { remove: true }],
    ['of nil to a missing bin does nothing', null, 0, MISSING, { unchanged: true }],
    ['of an unknown value fails', UNKNOWN, 0, PRESENT, { code: 26 }],
    ['of an unknown value with EVAL_NO_FAIL leaves the bin', UNKNOWN, EVAL_NO_FAIL, PRESENT, { unchanged: true }],
    ['checks its policy before its value', UNKNOWN, CREATE_ONLY, PRESENT, { code: 6 }],
    ['refuses unknown flags', VALUE, 32, PRESENT, { code: 4 }],
  ]
  for (const [title, expression, flags, bin, change] of CASES) {
    it(title, () => {
      const payload = expressionBytes([expression, flags])
      expect(attempt(() => modifyExpression(payload, sampleRecord(), bin))).to.deep.equal(change)
    })
  }
})

describe('A filter', () => {
  const passes = (expression: Written) =>
    attempt(() => passesFilter(compileExpression(expressionBytes(expression)), sampleRecord()))

  it('lets true pass', () => expect(passes(true)).to.equal(true))
  it('stops false', () => expect(passes(false)).to.equal(false))
  it('stops what is unknown', () => expect(passes(UNKNOWN)).to.equal(false))
  it('must be boolean', () => expect(passes(VALUE)).to.deep.equal({ code: 4 }))
})
