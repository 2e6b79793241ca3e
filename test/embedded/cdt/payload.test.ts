import { expect } from 'chai'
import fc from 'fast-check'
import { modifyCdt, parseCdt, readCdt } from '#src/embedded/cdt/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { encodeMsgpack } from '#src/embedded/value/msgpack-writer.js'
import type { Value } from '#src/embedded/value/value.js'
import { list, map, show } from './notation.js'
import { anyList, anyMap, value } from './values.js'

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

function codeOf(work: () => unknown): number {
  try {
    work()
    return 0
  } catch (error) {
    if (error instanceof CommandError) return error.code
    throw error
  }
}

describe('payloads of list and map calls', () => {
  it('are read as the client sends them', () => {
    expect(parseCdt(bytes('92 01 01'))).to.deep.equal({ opcode: 1, args: [1], context: [] })
    expect(parseCdt(bytes('94 43 a2036b 01 00'))).to.deep.equal({ opcode: 67, args: ['k', 1, 0], context: [] })
    expect(parseCdt(bytes('93 15 07 00'))).to.deep.equal({ opcode: 21, args: [7, 0], context: [] })
  })

  it('may lead to a nested container', () => {
    const call = parseCdt(bytes('93 ccff 92 22 a20361 91 60'))
    expect(readCdt(call, map(1, ['a', map(1, ['x', 1], ['y', 2])]))).to.equal(2)
  })

  const MALFORMED: [string, string][] = [
    ['nothing', ''],
    ['no list', '01'],
    ['an empty list', '90'],
    ['an opcode that is not an integer', '91 a20361'],
    ['a context without call', '92 ccff 92 10 00'],
    ['a context that is not a list', '93 ccff 01 91 10'],
    ['half a level', '93 ccff 91 10 91 10'],
    ['a level whose type is not an integer', '93 ccff 92 a20361 00 91 10'],
    ['a call in a context that is not a list', '93 ccff 92 10 00 10'],
    ['bytes that end too early', '92 01'],
    ['bytes that go on', '92 01 01 01'],
    ['a list longer than the bytes', '92 02 dd ffffffff'],
    ['a map with a repeated key', '92 01 82 01 01 01 01'],
    ['a path where a list or map call belongs', '93 ccfe 92 04 c3 00'],
  ]
  for (const [name, hex] of MALFORMED) {
    it(`are refused: ${name}`, () => {
      expect(codeOf(() => modifyCdt(parseCdt(bytes(hex)), list(1)))).to.equal(4)
      expect(codeOf(() => readCdt(parseCdt(bytes(hex)), list(1)))).to.equal(4)
    })
  }

  const subject: fc.Arbitrary<Value | undefined> = fc.oneof(anyList, anyMap, value, fc.constant(undefined))
  const opcode = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 64, max: 110 }), fc.integer())
  const argument = fc.oneof(value, fc.integer({ min: -3, max: 20 }), fc.integer(), fc.constant(0x10007))
  const level = fc.tuple(
    fc.oneof(fc.constantFrom(0x10, 0x11, 0x13, 0x20, 0x21, 0x22, 0x23), fc.integer({ min: 0, max: 0x3ff })),
    argument,
  )

  it('of any shape answer or refuse, and leave what they were given', () => {
    fc.assert(
      fc.property(
        subject,
        opcode,
        fc.array(argument, { maxLength: 5 }),
        fc.array(level, { maxLength: 3 }),
        (bin, op, args, levels) => {
          const call = list(op, ...args)
          const payload = encodeMsgpack(levels.length === 0 ? call : list(0xff, list(...levels.flat()), call))
          const before = show(bin)
          codeOf(() => modifyCdt(parseCdt(payload), bin))
          if (bin !== undefined) codeOf(() => readCdt(parseCdt(payload), bin))
          expect(show(bin)).to.equal(before)
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('of any bytes answer or refuse', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), subject, (noise, bin) => {
        codeOf(() => modifyCdt(parseCdt(Buffer.from(noise)), bin))
      }),
      { numRuns: 2000 },
    )
  })
})
