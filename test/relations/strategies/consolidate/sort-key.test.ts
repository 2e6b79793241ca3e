import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Embeddable, Key, OneToMany, Record, collection, compileModel } from 'skein'
import { compareKeys } from '#src/relations/strategies/consolidate/key-order.js'
import { SortKey } from '#src/relations/strategies/consolidate/sort-key.js'

@Embeddable()
class Entry {
  @Key() id!: string
  @Bin() points!: number
  @Bin() name!: string
  @Bin() at!: Date
  @Bin() big!: bigint
}

@Embeddable()
class Numbered {
  @Key() id!: number
  @Bin() points!: number
}

@Record({ set: 'list' })
class List {
  @Key() id!: number
  @OneToMany(() => Entry, { strategy: 'consolidate', sortKey: ['points', 'name', 'at', 'big'] })
  entries = collection<Entry>()
  @OneToMany(() => Numbered, { strategy: 'consolidate', sortKey: ['points'], name: 'n' })
  numbered = collection<Numbered>()
}

const model = compileModel([List], { namespace: 'test' })
const byAll = new SortKey(model.embeddable(Entry), ['points', 'name', 'at', 'big'])
const byNumber = new SortKey(model.embeddable(Numbered), ['points'])

const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'))
const tricky = fc.oneof(text, fc.string({ unit: fc.constantFrom('\u0001', '\u0002', '\u0003', 'a', '!') }))
const id = tricky.filter((value) => value !== '')
const int = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3, max: 3 }))
const date = fc.date({ noInvalidDate: true })
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const entry = fc.tuple(int, tricky, date, big, id)

const compare = (a: unknown, b: unknown): number =>
  typeof a === 'string'
    ? Buffer.compare(Buffer.from(a), Buffer.from(b as string))
    : (a as number) < (b as number)
      ? -1
      : (a as number) > (b as number)
        ? 1
        : 0

const inOrder = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (let i = 0; i < a.length; i++) {
    const order = compare(a[i], b[i])
    if (order !== 0) return Math.sign(order)
  }
  return 0
}

describe('the sort key of consolidated children', () => {
  it('sorts like the values, then like the id: negative numbers, dates, big integers and any text', () => {
    fc.assert(
      fc.property(entry, entry, ([...a], [...b]) => {
        const [x, y] = [a, b].map((each) => byAll.write(each.slice(0, 4), each[4]))
        expect(Math.sign(Buffer.compare(Buffer.from(x), Buffer.from(y)))).to.equal(inOrder(a, b))
        expect(Math.sign(compareKeys(x, y))).to.equal(inOrder(a, b))
      }),
      { numRuns: 2000 },
    )
  })

  it('tells the id it ends with', () => {
    fc.assert(
      fc.property(entry, ([...all]) => {
        expect(byAll.idOf(byAll.write(all.slice(0, 4), all[4]))).to.equal(all[4])
      }),
    )
    fc.assert(
      fc.property(int, int, (points, number) => {
        expect(byNumber.idOf(byNumber.write([points], number))).to.equal(number === 0 ? 0 : number)
      }),
    )
  })

  it('puts what has no value first', () => {
    const [missing, lowest] = [byNumber.write([undefined], 1), byNumber.write([Number.MIN_SAFE_INTEGER], 1)]
    expect(compareKeys(missing, lowest)).to.be.lessThan(0)
    expect(byNumber.idOf(missing)).to.equal(1)
  })

  it('puts no text before the empty text, and that before all others', () => {
    fc.assert(
      fc.property(
        id,
        id,
        id,
        tricky.filter((value) => value !== ''),
        (a, b, c, text) => {
          const write = (name: string | undefined, key: string): string => byAll.write([1, name], key)
          const [missing, empty, other] = [write(undefined, a), write('', b), write(text, c)]
          expect(compareKeys(missing, empty)).to.be.lessThan(0)
          expect(compareKeys(empty, other)).to.be.lessThan(0)
        },
      ),
    )
    const all = [1, undefined, new Date(0), 0n]
    expect(byAll.idOf(byAll.write(all, 'x'))).to.equal('x')
  })

  it('refuses what has no order', () => {
    expect(() => byNumber.write(['many'], 1)).to.throw('cannot be put in order')
  })
})
