import { expect } from 'chai'
import fc from 'fast-check'
import { modifyBits, readBits } from '#src/embedded/bits/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { Bytes, ParticleType, type Value } from '#src/embedded/value/value.js'

/** A blob as one large number, most significant bit first. */
interface Model {
  readonly bits: bigint
  readonly length: number
}

const toModel = (blob: Buffer): Model => ({ bits: BigInt(`0x0${blob.toString('hex')}`), length: blob.length * 8 })
const toHex = ({ bits, length }: Model): string => (length === 0 ? '' : bits.toString(16).padStart(length / 4, '0'))
const ones = (count: number): bigint => (1n << BigInt(count)) - 1n

function get({ bits, length }: Model, offset: number, size: number): bigint {
  return (bits >> BigInt(length - offset - size)) & ones(size)
}

function put({ bits, length }: Model, offset: number, size: number, value: bigint): Model {
  const below = BigInt(length - offset - size)
  return { bits: (bits & ~(ones(size) << below)) | ((value & ones(size)) << below), length }
}

const blob = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes))
/** A blob and a range inside it. */
const place = blob.chain((bytes) =>
  fc.nat(bytes.length * 8 - 1).chain((offset) =>
    fc.record({
      bytes: fc.constant(bytes),
      offset: fc.constant(offset),
      size: fc.integer({ min: 1, max: bytes.length * 8 - offset }),
    }),
  ),
)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

const modified = (opcode: number, args: Value[], bytes: Buffer): string =>
  modifyBits(opcode, args, bytes)!.toString('hex')
const value = (bytes: Uint8Array): Bytes => new Bytes(ParticleType.BLOB, Buffer.from(bytes))

describe('Bits change as one large number would', () => {
  const combinations: readonly [name: string, opcode: number, of: (old: bigint, given: bigint) => bigint][] = [
    ['set', 3, (_, given) => given],
    ['or', 4, (old, given) => old | given],
    ['xor', 5, (old, given) => old ^ given],
    ['and', 6, (old, given) => old & given],
  ]
  for (const [name, opcode, of] of combinations) {
    it(`with ${name}`, () => {
      const given = fc.uint8Array({ minLength: 20, maxLength: 22 })
      fc.assert(
        fc.property(place, given, ({ bytes, offset, size }, with_) => {
          const model = toModel(bytes)
          const first = get(toModel(Buffer.from(with_)), 0, size)
          const expected = put(model, offset, size, of(get(model, offset, size), first))
          expect(modified(opcode, [offset, size, value(with_)], bytes)).to.equal(toHex(expected))
        }),
      )
    })
  }

  it('with not', () => {
    fc.assert(
      fc.property(place, ({ bytes, offset, size }) => {
        const model = toModel(bytes)
        const expected = put(model, offset, size, ~get(model, offset, size))
        expect(modified(7, [offset, size], bytes)).to.equal(toHex(expected))
      }),
    )
  })

  it('with shifts', () => {
    fc.assert(
      fc.property(place, fc.nat(200), ({ bytes, offset, size }, by) => {
        const model = toModel(bytes)
        const old = get(model, offset, size)
        expect(modified(8, [offset, size, by], bytes)).to.equal(toHex(put(model, offset, size, old << BigInt(by))))
        expect(modified(9, [offset, size, by], bytes)).to.equal(toHex(put(model, offset, size, old >> BigInt(by))))
      }),
    )
  })

  it('with integers that are set, added and subtracted, whatever happens on overflow', () => {
    const how = fc.record({ signed: fc.boolean(), overflow: fc.constantFrom(0, 2, 4) })
    fc.assert(
      fc.property(
        place,
        int64,
        how,
        fc.constantFrom(10, 11),
        ({ bytes, offset, size }, change, { signed, overflow }, opcode) => {
          const bits = Math.min(size, 64)
          const model = toModel(bytes)
          const args = [offset, bits, change]
          expect(modified(12, args, bytes)).to.equal(toHex(put(model, offset, bits, change)))
          const cut = (number: bigint): bigint => (signed ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number))
          const sum = cut(get(model, offset, bits)) + (opcode === 10 ? 1n : -1n) * cut(change)
          const lowest = signed ? -(2n ** BigInt(bits - 1)) : 0n
          const highest = 2n ** BigInt(signed ? bits - 1 : bits) - 1n
          const run = () => modified(opcode, [...args, 0, Number(signed) | overflow], bytes)
          if (sum === cut(sum)) expect(run()).to.equal(toHex(put(model, offset, bits, sum)))
          else if (overflow === 0) expect(run).to.throw(CommandError).with.property('code', 26)
          else {
            const expected = overflow === 4 ? sum : sum < lowest ? lowest : highest
            expect(run()).to.equal(toHex(put(model, offset, bits, expected)))
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('with bytes that are inserted and removed', () => {
    fc.assert(
      fc.property(blob, fc.nat(30), fc.uint8Array({ minLength: 1, maxLength: 5 }), (bytes, at, added) => {
        const whole = Buffer.concat([bytes, Buffer.alloc(Math.max(0, at - bytes.length))])
        const expected = Buffer.concat([whole.subarray(0, at), added, whole.subarray(at)])
        expect(modified(1, [at, value(added)], bytes)).to.equal(expected.toString('hex'))
        expect(modified(2, [at, added.length], expected)).to.equal(whole.toString('hex'))
      }),
    )
  })
})

describe('Bits are read as those of one large number', () => {
  it('by get, count and integer', () => {
    fc.assert(
      fc.property(place, fc.boolean(), ({ bytes, offset, size }, signed) => {
        const model = toModel(bytes)
        const bits = get(model, offset, size)
        const got = (readBits(50, [offset, size], bytes) as Bytes).bytes
        expect(got).to.have.length(Math.ceil(size / 8))
        expect(toModel(got).bits).to.equal(bits << BigInt(got.length * 8 - size))
        expect(readBits(51, [offset, size], bytes)).to.equal(bits.toString(2).replaceAll('0', '').length)
        const few = Math.min(size, 64)
        const integer = get(model, offset, few)
        expect(BigInt(readBits(54, [offset, few, Number(signed)], bytes) as number)).to.equal(
          signed ? BigInt.asIntN(few, integer) : BigInt.asIntN(64, integer),
        )
      }),
    )
  })

  it('by scans from either side', () => {
    fc.assert(
      fc.property(place, fc.boolean(), ({ bytes, offset, size }, wanted) => {
        const text = get(toModel(bytes), offset, size).toString(2).padStart(size, '0')
        expect(readBits(52, [offset, size, wanted], bytes)).to.equal(text.indexOf(wanted ? '1' : '0'))
        expect(readBits(53, [offset, size, wanted], bytes)).to.equal(text.lastIndexOf(wanted ? '1' : '0'))
      }),
    )
  })

  it('also from an offset that is counted from the end', () => {
    fc.assert(
      fc.property(place, ({ bytes, offset, size }) => {
        const fromEnd = offset - bytes.length * 8
        expect(readBits(50, [fromEnd, size], bytes)).to.deep.equal(readBits(50, [offset, size], bytes))
      }),
    )
  })
})

describe('Calls on bits with any arguments', () => {
  const argument: fc.Arbitrary<Value> = fc.oneof(
    fc.integer({ min: -40, max: 40 }),
    fc.constantFrom<Value>(null, true, 'text', 2 ** 40, -(2 ** 60), 0x7fffffff),
    fc.uint8Array({ maxLength: 4 }).map(value),
  )

  it('succeed, or are refused with a result code', () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.array(argument, { maxLength: 6 }),
        fc.option(blob, { nil: undefined }),
        (opcode, args, bytes) => {
          for (const run of [
            () => modifyBits(opcode, args, bytes),
            () => readBits(opcode, args, bytes ?? Buffer.alloc(0)),
          ]) {
            try {
              run()
            } catch (error) {
              expect(error).to.be.instanceOf(CommandError)
            }
          }
        },
      ),
      { numRuns: 3000 },
    )
  })
})
