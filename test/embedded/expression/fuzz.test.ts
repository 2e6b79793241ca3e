import { expect } from 'chai'
import fc from 'fast-check'
import { compileExpression, evaluate, type CompiledExpression } from '#src/embedded/expression/index.js'
import { typeOfValue } from '#src/embedded/expression/expression-type.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { expressionBytes, f, raw, type Written } from './expression-bytes.js'
import { blob, list, map, sampleRecord } from './sample-record.js'

const name = fc.constantFrom('i', 's', 'f', 't', 'b', 'l', 'm', 'zz').map(raw)
const leaf: fc.Arbitrary<Written> = fc.oneof(
  fc.constantFrom<Written>(null, true, false, 0, -1, 7, 2n ** 62n, 'x', '', f(0), f(NaN), blob(1), map(['a', 1])),
  fc.constantFrom<Written>([0], [66], [69], [70], [71], [74], [126, list(5, 'a', 1)]),
  fc.tuple(fc.constant(81), fc.nat(9), name),
  fc.tuple(fc.constant(82), name),
)
const { expression } = fc.letrec<{ expression: Written }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.integer({ min: 0, max: 130 }), fc.array(tie('expression'), { maxLength: 4 }))
      .map(([code, operands]) => [code, ...operands]),
    fc.tuple(fc.constantFrom(1, 2, 3, 4, 5, 6), tie('expression'), tie('expression')),
    fc.tuple(fc.integer({ min: 16, max: 51 }), tie('expression'), tie('expression')),
    fc.tuple(fc.constant(7), fc.nat(7), fc.string({ maxLength: 6 }).map(raw), tie('expression')),
    fc.tuple(fc.constant(125), name, tie('expression'), tie('expression')),
    fc
      .tuple(
        fc.nat(9),
        fc.constantFrom(0, 64),
        fc.nat(110),
        fc.array(tie('expression'), { maxLength: 3 }),
        tie('expression'),
      )
      .map(([type, system, code, operands, subject]) => [127, type, system, [code, ...operands], subject]),
  ),
}))

function compile(bytes: Buffer): CompiledExpression | undefined {
  try {
    return compileExpression(bytes)
  } catch (error) {
    if (error instanceof CommandError && error.code === 4) return undefined
    throw error
  }
}

describe('Whatever is sent as an expression', () => {
  it('is refused with code 4, or has a value of its type, or none', () => {
    let compiled = 0
    fc.assert(
      fc.property(expression, (written) => {
        const made = compile(expressionBytes(written))
        if (made === undefined) return
        compiled++
        const value = evaluate(made, sampleRecord())
        if (value !== undefined && made.type !== 0) expect(typeOfValue(value)).to.equal(made.type)
      }),
      { numRuns: 5000 },
    )
    expect(compiled).to.be.above(500)
  })

  it('can be damaged anywhere', () => {
    fc.assert(
      fc.property(
        expression,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(),
        (written, flips, cut) => {
          const bytes = expressionBytes(written)
          for (const [at, value] of flips) bytes[at % bytes.length] = value
          const made = compile(cut % 3 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes)
          if (made) evaluate(made, sampleRecord())
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('can be any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const made = compile(Buffer.from(bytes))
        if (made) evaluate(made, sampleRecord())
      }),
      { numRuns: 5000 },
    )
  })
})
