import Aerospike from 'aerospike'
import { expect } from 'chai'
import fc from 'fast-check'
import { modifyHll, readHll } from '#src/embedded/hll/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { Bytes, Float, ListValue, MapValue, ParticleType, type Value } from '#src/embedded/value/value.js'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { hll, Key, exp } = Aerospike
const [INIT, ADD, UNION, REFRESH, FOLD] = [0, 1, 2, 3, 4]
const [COUNT, GET_UNION, UNION_COUNT, INTERSECT_COUNT, SIMILARITY, DESCRIBE, MAY_CONTAIN] = [50, 51, 52, 53, 54, 55, 56]

const list = (items: readonly Value[]): ListValue => new ListValue(items)
const words = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `key${from + i}`)
const sketch = (elements: readonly Value[], index: number, minhash = 0): Bytes =>
  modifyHll(ADD, [list(elements), index, minhash], undefined).subject as Bytes
const codeOf = (run: () => unknown): number | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    return (error as CommandError).code
  }
}

describe('HyperLogLog sketches', () => {
  it('count within their error', () => {
    for (const [bits, count] of [
      [4, 1000],
      [8, 100],
      [10, 1000],
      [12, 10_000],
      [14, 20_000],
      [16, 20_000],
    ]) {
      const error = (3 * 1.04) / Math.sqrt(2 ** bits)
      expect(readHll(COUNT, [], sketch(words(0, count), bits)), `${bits} bits`).to.be.closeTo(count, count * error)
    }
  })

  it('count as recorded from a server', () => {
    expect(modifyHll(REFRESH, [], sketch(words(0, 100), 8)).result).to.equal(97)
    expect(
      readHll(
        INTERSECT_COUNT,
        [list([sketch(words(0, 1), 6, 12), sketch(words(0, 2), 6, 12)])],
        sketch(words(0, 5), 6, 12),
      ),
    ).to.equal(1)
    const united = modifyHll(UNION, [list([sketch(words(6, 11), 10)])], sketch(words(0, 5), 8)).subject!
    expect(readHll(COUNT, [], united)).to.equal(10)
  })

  it('answer how many elements were new, and none when they are added again', () => {
    for (const minhash of [0, 4, 30, 51]) {
      const first = modifyHll(ADD, [list(words(0, 500)), 10, minhash], undefined)
      expect(first.result).to.be.greaterThan(300)
      expect(modifyHll(ADD, [list(words(0, 500))], first.subject).result).to.equal(0)
      expect(readHll(MAY_CONTAIN, [list(words(100, 200))], first.subject!)).to.equal(1)
      expect(readHll(MAY_CONTAIN, [list(words(1000, 1100))], first.subject!)).to.equal(0)
    }
  })

  it('fold to what they would have been with fewer bits', () => {
    const large = sketch(words(0, 3000), 12)
    for (const bits of [4, 7, 11, 12]) {
      expect(modifyHll(FOLD, [bits], large).subject).to.deep.equal(sketch(words(0, 3000), bits))
    }
  })

  it('unite to what they would have been together, whatever their bits', () => {
    const union = readHll(
      GET_UNION,
      [list([sketch(words(100, 300), 10), sketch(words(300, 500), 9)])],
      sketch(words(0, 200), 12),
    )
    expect(union).to.deep.equal(sketch(words(0, 500), 9))
    expect(readHll(UNION_COUNT, [list([sketch(words(0, 100), 9)])], union)).to.equal(readHll(COUNT, [], union))
    const withHashes = readHll(GET_UNION, [list([sketch(words(100, 300), 10, 20)])], sketch(words(0, 200), 10, 20))
    expect(withHashes).to.deep.equal(sketch(words(0, 300), 10, 20))
  })

  it('tell how alike sets are, several of them with minhashes', () => {
    const [one, two, three] = [
      sketch(words(0, 3000), 12, 20),
      sketch(words(1000, 4000), 12, 20),
      sketch(words(2000, 5000), 12, 20),
    ]
    expect((readHll(SIMILARITY, [list([two, three])], one) as Float).value).to.be.closeTo(0.2, 0.04)
    expect(readHll(INTERSECT_COUNT, [list([two, three])], one)).to.be.closeTo(1000, 200)
    const [left, right] = [sketch(words(0, 3000), 14), sketch(words(1000, 4000), 14)]
    expect((readHll(SIMILARITY, [list([right])], left) as Float).value).to.be.closeTo(0.5, 0.05)
  })

  it('are read together as if they had no minhashes where their bits differ', () => {
    const [plain, hashed, other] = [0, 20, 30].map((minhash) => sketch(words(0, 100), 10, minhash))
    const count = readHll(COUNT, [], plain)
    for (const [one, two] of [
      [plain, hashed],
      [hashed, plain],
      [hashed, other],
      [hashed, sketch(words(0, 100), 12, 20)],
    ]) {
      const union = readHll(GET_UNION, [list([two])], one)
      expect(readHll(DESCRIBE, [], union)).to.deep.equal(list([10, 0]))
      expect(readHll(UNION_COUNT, [list([two])], one)).to.equal(count)
      expect(readHll(INTERSECT_COUNT, [list([two])], one)).to.be.closeTo(100, 10)
      expect((readHll(SIMILARITY, [list([two])], one) as Float).value).to.be.closeTo(1, 0.1)
      const created = modifyHll(UNION, [list([one, two])], undefined).subject!
      expect(readHll(DESCRIBE, [], created)).to.deep.equal(list([10, 0]))
    }
    expect(codeOf(() => modifyHll(UNION, [list([plain])], hashed))).to.equal(26)
    const folded = modifyHll(UNION, [list([plain]), 8], hashed).subject!
    expect(readHll(DESCRIBE, [], folded)).to.deep.equal(list([10, 0]))
  })

  it('refuse what a server refuses', () => {
    const plain = sketch(words(0, 10), 8)
    const hashed = sketch(words(0, 10), 8, 10)
    expect(codeOf(() => readHll(INTERSECT_COUNT, [list([plain, plain])], plain))).to.equal(4)
    expect(codeOf(() => readHll(SIMILARITY, [list([plain, plain])], plain))).to.equal(4)
    expect(codeOf(() => readHll(GET_UNION, [list([])], plain))).to.equal(4)
    expect(codeOf(() => readHll(GET_UNION, [list([new Bytes(ParticleType.BLOB, Buffer.alloc(5))])], plain))).to.equal(4)
    expect(codeOf(() => modifyHll(FOLD, [10], plain))).to.equal(26)
    expect(codeOf(() => modifyHll(FOLD, [2], plain))).to.equal(4)
    expect(codeOf(() => modifyHll(FOLD, [4], hashed))).to.equal(26)
    expect(codeOf(() => modifyHll(FOLD, [4], undefined))).to.equal(17)
    expect(codeOf(() => modifyHll(REFRESH, [], undefined))).to.equal(17)
    expect(codeOf(() => modifyHll(INIT, [-1, 51], sketch(words(0, 1), 16)))).to.equal(26)
    expect(codeOf(() => modifyHll(ADD, [list(words(0, 1))], undefined))).to.equal(26)
    expect(codeOf(() => modifyHll(INIT, [-1], undefined))).to.equal(26)
    expect(codeOf(() => modifyHll(ADD, [list([list(['a'])]), 10], undefined))).to.equal(4)
    expect(codeOf(() => modifyHll(ADD, [list([new MapValue(['a'], [1])]), 10], undefined))).to.equal(4)
    expect(codeOf(() => modifyHll(ADD, [list(words(0, 1)), 8, 0, 2], plain))).to.equal(4)
    expect(codeOf(() => modifyHll(INIT, [8, 0, 8], plain))).to.equal(4)
    for (const [index, minhash] of [
      [3, 0],
      [17, 0],
      [8, 3],
      [8, 52],
      [16, 49],
    ]) {
      expect(
        codeOf(() => modifyHll(INIT, [index, minhash], undefined)),
        `${index}, ${minhash}`,
      ).to.equal(4)
    }
  })

  it('keep all bits they may have', () => {
    for (const [index, minhash] of [
      [4, 0],
      [4, 51],
      [13, 51],
      [16, 48],
      [16, 0],
    ]) {
      const made = modifyHll(INIT, [index, minhash], undefined).subject!
      expect(readHll(DESCRIBE, [], made)).to.deep.equal(list([index, minhash]))
      expect(readHll(COUNT, [], made)).to.equal(0)
    }
  })

  it('answer calls with any arguments and any bytes, or refuse them with a result code', () => {
    const argument: fc.Arbitrary<Value> = fc.oneof(
      fc.integer({ min: -3, max: 60 }),
      fc.constantFrom<Value>(null, 'text', new Float(1), list([]), list(['a', 1, list([])])),
      fc.constantFrom(sketch(['a'], 4), sketch(['a'], 5, 4)).map((one) => list([one])),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => list([new Bytes(ParticleType.HLL, Buffer.from(bytes))])),
    )
    const damaged = fc.tuple(fc.nat(30), fc.nat(255)).map(([at, to]) => {
      const bytes = Buffer.from(sketch(['a', 'b'], 5, 4).bytes)
      bytes[at % bytes.length] = to
      return new Bytes(ParticleType.HLL, bytes)
    })
    const subject = fc.oneof(
      damaged,
      fc.uint8Array({ maxLength: 40 }).map((bytes) => new Bytes(ParticleType.HLL, Buffer.from(bytes))),
    )
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.array(argument, { maxLength: 5 }),
        fc.option(subject, { nil: undefined }),
        (opcode, args, bin) => {
          for (const run of [() => modifyHll(opcode, args, bin), () => bin && readHll(opcode, args, bin)]) {
            try {
              run()
            } catch (error) {
              expect(error).to.be.instanceOf(CommandError)
            }
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('embedded server: operations on HyperLogLog bins', () => {
  let connected: Connected
  const key = new Key('test', 'hll', 1)

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
  })
  after(() => connected.close())
  beforeEach(() => connected.client.put(key, { other: 1, bytes: Buffer.from([1, 2]) }))

  it('work on HyperLogLog bins only', async () => {
    const { client } = connected
    expect(await refusal(client.operate(key, [hll.add('bytes', ['a'], 8)]))).to.equal(12)
    expect(await refusal(client.operate(key, [hll.getCount('other')]))).to.equal(12)
    expect((await client.operate(key, [hll.getCount('none')])).bins).to.deep.equal({ none: null })
  })

  it('work in expressions, also to filter by', async () => {
    const { client } = connected
    await client.operate(key, [hll.add('h', ['a', 'b', 'c'], 8)])
    const { bins } = await client.operate(key, [
      exp.operations.read('some', exp.hll.mayContain(exp.binHll('h'), exp.list(['a', 'b']) as never), 0),
      exp.operations.read('bits', exp.hll.describe(exp.binHll('h')), 0),
    ])
    expect(bins).to.deep.equal({ some: 1, bits: [8, 0] })
    const counted = exp.eq(exp.hll.getCount(exp.binHll('h')), exp.int(4))
    expect(await refusal(client.get(key, { filterExpression: counted } as never))).to.equal(27)
  })
})
