import { expect } from 'chai'
import { Bin, Key, ManyToOne, Record, ref, type Database, type ValueCodec } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qg${process.pid}${Date.now() % 1e6}`

class Money {
  constructor(readonly cents: number) {}
}
const money: ValueCodec<Money> = {
  encode: ({ cents }) => cents,
  decode: (stored) => new Money(stored as number),
}

@Record({ set: `${unique}o` })
class Owner {
  @Key() id!: number
}

@Record({ set: `${unique}s` })
class Sale {
  @Key() id!: number
  @Bin() at?: Date
  @Bin({ type: { list: 'date' } }) days?: Date[]
  @Bin({ type: 'bytes' }) seal?: Buffer
  @Bin({ type: 'bigint' }) big?: bigint
  @Bin({ type: 'double' }) rate?: number
  @Bin({ type: money }) price?: Money
  @Bin() isNew?: boolean
  @ManyToOne(() => Owner) owner = ref<Owner>()
}

for (const mode of MODES) {
  describe(`sums and groups (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Owner, Sale], (opened) => ({ db } = opened))
    const store = (...values: Partial<Omit<Sale, 'owner'>>[]): Promise<void> =>
      db.withSession((session) => values.forEach((each, id) => void session.create(Sale, { id, ...each })))

    it('has groups that can be looked up by plain values', async () => {
      const [noon, night] = [new Date('2026-07-01T12:00:00Z'), new Date('2026-07-01T23:00:00Z')]
      await db.withSession((session) => {
        const owner = session.create(Owner, { id: 7 })
        session.create(Sale, { id: 1, at: noon, days: [noon, night], seal: Buffer.from([1, 255]) }).owner.set(owner)
        session.create(Sale, { id: 2, at: new Date(noon), days: [noon, noon], big: 5n, isNew: true })
        session.create(Sale, { id: 3, at: night, price: new Money(250), rate: NaN })
      })
      const all = db.scan(Sale)
      const byTime: Map<number | null, number> = await all.groupBy('at').count()
      expect(byTime.get(noon.getTime())).to.equal(2)
      expect([...byTime.keys()].sort()).to.deep.equal([noon.getTime(), night.getTime()])
      expect((await all.groupBy('days').count()).get(+noon)).to.equal(2)
      expect((await all.groupBy('days').count()).get(null)).to.equal(1)
      expect((await all.groupBy('seal').count()).get('01ff')).to.equal(1)
      expect((await all.groupBy('big').count()).get(5n)).to.equal(1)
      expect((await all.groupBy('isNew').count()).get(true)).to.equal(1)
      expect((await all.groupBy('rate').count()).get(NaN)).to.equal(1)
      expect((await all.groupBy('price').count()).get(250)).to.equal(1)
      expect((await all.groupBy('owner').count()).get(7)).to.equal(1)
      expect((await all.groupBy('owner').count()).get(null)).to.equal(2)
    })

    it('adds bigints exactly, alone and in groups', async () => {
      await store({ big: 2n ** 62n, isNew: true }, { big: 2n ** 62n, isNew: true }, { big: 3n, isNew: false }, {})
      expect(await db.scan(Sale).sum('big')).to.equal(2n ** 63n + 3n)
      const sums: Map<boolean | null, bigint> = await db.scan(Sale).groupBy('isNew').sum('big')
      expect(sums).to.deep.equal(
        new Map<boolean | null, bigint>([
          [true, 2n ** 63n],
          [false, 3n],
          [null, 0n],
        ]),
      )
    })

    it('leaves NaN out of min and max, whatever comes first, and keeps it in sums', async () => {
      await store(...[NaN, 2.5, NaN, -1, 7, NaN].map((rate) => ({ rate, isNew: true })), { rate: NaN, isNew: false })
      const all = db.scan(Sale)
      expect([await all.min('rate'), await all.max('rate')]).to.deep.equal([-1, 7])
      expect(await all.groupBy('isNew').max('rate')).to.deep.equal(
        new Map([
          [true, 7],
          [false, null],
        ]),
      )
      expect([await all.sum('rate'), await all.avg('rate')]).to.deep.equal([NaN, NaN])
    })

    it('adds infinities as JavaScript does', async () => {
      await store({ rate: Infinity }, { rate: 1 }, { rate: 2 })
      expect(await db.scan(Sale).sum('rate')).to.equal(Infinity)
    })

    it('takes the first records of an order where there is a limit', async () => {
      await store(...Array.from({ length: 30 }, (_, i) => ({ big: BigInt(i), rate: i })))
      const top = db.scan(Sale).orderBy('rate', 'desc').limit(3)
      expect(await top.sum('big')).to.equal(29n + 28n + 27n)
      expect([await top.avg('rate'), await top.min('rate'), await top.max('big')]).to.deep.equal([28, 27, 29n])
      expect([...(await top.groupBy('big').count()).keys()].sort()).to.deep.equal([27n, 28n, 29n])
      expect(await top.count()).to.equal(3)
      expect(await db.scan(Sale).orderBy('rate').sum('rate')).to.equal(435)
    })
  })
}
