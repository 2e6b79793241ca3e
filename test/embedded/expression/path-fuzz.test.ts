import { expect } from 'chai'
import fc from 'fast-check'
import { isPath, parsePathOperation, runPath } from '#src/embedded/expression/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { compareValues } from '#src/embedded/value/compare.js'
import { ListValue, MapValue, type Value } from '#src/embedded/value/value.js'
import { show } from '../cdt/notation.js'
import { anyList, anyMap, value } from '../cdt/values.js'
import { expressionBytes, raw, type Written } from './expression-bytes.js'

const loopVariable = fc.tuple(fc.constant(122), fc.integer({ min: -1, max: 10 }), fc.integer({ min: -1, max: 3 }))
const operand: fc.Arbitrary<Written> = fc.oneof(
  fc.constantFrom<Written>(0, 1, -1, 'a', true, null, [0], [100], [99]),
  fc.tuple(fc.constant(122), fc.constantFrom(2, 3), fc.nat(2)),
  loopVariable,
  fc.tuple(fc.constant(81), fc.nat(9), fc.constant(raw('i'))),
  fc.tuple(fc.constant(82), fc.constant(raw('i'))),
)
const { levels } = fc.letrec<{ filter: Written; levels: Written[] }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    fc.constant<Written>(true),
    fc.tuple(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom<Written>([122, 2, 1], [122, 2, 2]),
      fc.integer({ min: -3, max: 3 }),
    ),
    fc.tuple(fc.integer({ min: 1, max: 6 }), operand, operand),
    fc.tuple(fc.constantFrom(16, 17, 18, 123, 125), tie('filter'), tie('filter')),
    fc
      .tuple(tie('levels'), fc.integer({ min: 0, max: 32 }), operand, fc.constantFrom(4, 5))
      .map(([path, flags, change, type]): Written => [
        3,
        [
          127,
          2,
          0,
          [16],
          [127, type, flags & 4 ? 64 : 0, [254, path, flags, ...(flags & 4 ? [change] : [])], [122, type, 1]],
        ],
        0,
      ]),
    operand,
  ),
  levels: fc
    .array(
      fc.oneof(
        { depthSize: 'small' },
        fc.tuple(fc.constantFrom(0x10, 0x11, 0x20, 0x21), fc.integer({ min: -3, max: 3 })),
        fc.tuple(fc.constantFrom(0x13, 0x22, 0x23), value),
        fc.tuple(
          fc.constant(0x2a),
          fc.array(value, { maxLength: 3 }).map((keys) => new ListValue(keys)),
        ),
        fc.tuple(fc.constantFrom(0x04, 0x204), tie('filter')),
        fc.tuple(fc.constant(0x04), fc.constant(true)),
        { arbitrary: fc.tuple(fc.integer({ min: -1, max: 0x3ff }), value), weight: 1 },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((pairs) => pairs.flat()),
}))
const path: fc.Arbitrary<Written> = fc
  .tuple(levels, fc.oneof(fc.constantFrom(0, 1, 2, 3, 4, 16, 17, 19, 20), fc.integer({ min: -1, max: 40 })), operand)
  .map(([steps, flags, change]) => [254, steps, flags, ...(flags & 4 ? [change] : [])])
const subject: fc.Arbitrary<Value> = fc.oneof(anyList, anyMap, value)

/** Runs a payload as a selection and as a change; answers how often it was not refused. */
function attempt(payload: Buffer, bin: Value): number {
  const before = show(bin)
  let answers = 0
  for (const modifies of [false, true]) {
    try {
      requireSorted(runPath(parsePathOperation(payload, modifies), bin))
      answers++
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      expect(error.code).to.be.oneOf([1, 4, 12])
    }
  }
  expect(show(bin)).to.equal(before)
  return answers
}

function requireSorted(answer: Value): void {
  if (answer instanceof ListValue) {
    if (answer.ordered) expectAscending(answer.items, 0)
    answer.items.forEach(requireSorted)
  } else if (answer instanceof MapValue) {
    expectAscending(answer.keys, 1)
    answer.values.forEach(requireSorted)
  }
}

function expectAscending(values: readonly Value[], least: number): void {
  for (let i = 1; i < values.length; i++) expect(compareValues(values[i], values[i - 1])).to.be.at.least(least)
}

describe('Whatever is sent as a path', () => {
  it('is refused with a code, or leaves what it was given and answers in order', () => {
    let answers = 0
    fc.assert(
      fc.property(path, subject, (written, bin) => {
        answers += attempt(expressionBytes(written), bin)
      }),
      { numRuns: 2000 },
    )
    expect(answers).to.be.above(200)
  })

  it('can be damaged anywhere', () => {
    fc.assert(
      fc.property(
        path,
        subject,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (written, bin, flips) => {
          const bytes = expressionBytes(written)
          for (const [at, byte] of flips) bytes[at % bytes.length] = byte
          attempt(bytes, bin)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('can end anywhere', () => {
    fc.assert(
      fc.property(path, subject, fc.nat(), (written, bin, cut) => {
        const bytes = expressionBytes(written)
        const part = bytes.subarray(0, cut % bytes.length)
        isPath(part)
        attempt(part, bin)
      }),
      { numRuns: 2000 },
    )
  })

  const nest = (depth: number, inner: Written, around: (inner: Written) => Written): Written => {
    let written = inner
    for (let i = 0; i < depth; i++) written = around(written)
    return written
  }
  const within = (inner: Written): Written => [127, 4, 0, [254, [4, [18, [1, inner, inner]]], 1], [122, 4, 1]]
  const oneWithin = (inner: Written): Written => [
    127,
    4,
    0,
    [254, [4, [1, [126, new ListValue([])], inner]], 1],
    [122, 4, 1],
  ]
  const malformedWithin = (inner: Written): Written => [127, 4, 0, [254, [4, [20, inner]], 1], [122, 4, 1]]
  const HOSTILE: [string, Written][] = [
    ['100,000 levels', [254, Array.from({ length: 50_000 }, () => [4, true]).flat(), 1]],
    [
      'paths within paths',
      [254, [4, [1, nest(2000, [126, new ListValue([])], oneWithin), [126, new ListValue([])]]], 17],
    ],
    ['paths that double', [254, [4, [1, nest(14, [126, new ListValue([])], within), [126, new ListValue([])]]], 17]],
    [
      'malformed paths within paths',
      [254, [4, [1, nest(60, new ListValue(Array<number>(50_000).fill(1)), malformedWithin), 1]], 17],
    ],
    ['operators within operators', [254, [4, nest(2000, true, (inner) => [18, inner])], 1]],
  ]
  for (const [name, written] of HOSTILE) {
    it(`ends: ${name}`, () => {
      const bytes = expressionBytes(written)
      const deep = nest(200, new ListValue([1]), (inner) => new ListValue([inner as Value]))
      attempt(bytes, deep as Value)
      attempt(bytes, new ListValue([new ListValue([1]), new ListValue([])]))
    })
  }
})
