import { expect } from 'chai'
import { collection, DeletedAt, Key, ManyToOne, OneToMany, Record, ref, type Database, type SkeinError } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'ldorder' })
class Order {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @OneToMany(() => Line, 'order') lines = collection<Line>()
  @OneToMany(() => Line, 'payer', { strategy: 'secondaryIndex' }) paid = collection<Line>()
  @OneToMany(() => Stamp, 'order') stamps = collection<Stamp>()
}

@Record({ set: 'ldline' })
class Line {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Order, 'lines') order = ref<Order>()
  @ManyToOne(() => Order, 'paid') payer = ref<Order>()
}

@Record({ set: 'ldstamp' })
class Stamp {
  @Key() id!: string
  @ManyToOne(() => Order, 'stamps') order = ref<Order>()
}

for (const mode of MODES) {
  describe(`loading what was deleted softly through relations (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Order, Line, Stamp], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const order = session.create(Order, { id: 1 })
        for (const id of ['a', 'b', 'c']) session.create(Line, { id, order, payer: order })
        session.create(Stamp, { id: 's', order })
      })
      await db.withSession(async (session) => void (await session.delete(Line, 'b')))
    })
    const ids = (lines: readonly Line[]): string[] => lines.map(({ id }) => id).sort()

    it('shows deleted members on request, by list and by index, and leaves the collection as it is', async () => {
      const { lines, paid } = await db.session().load(Order, 1)
      for (const members of [lines, paid]) {
        expect(ids(await members.load({ deleted: 'only' }))).to.deep.equal(['b'])
        expect(members.isLoaded).to.equal(false)
        expect(ids(await members.load({ deleted: 'include' }))).to.deep.equal(['a', 'b', 'c'])
        expect(ids(await members.load())).to.deep.equal(['a', 'c'])
        expect(ids(await members.load({ deleted: 'include' }))).to.deep.equal(['a', 'b', 'c'])
        expect(ids(members.items)).to.deep.equal(['a', 'c'])
      }
    })

    it('shows the deleted entity of a reference on request, and leaves the reference as it is', async () => {
      await db.withSession(async (session) => void (await session.delete(Order, 1)))
      const session = db.session()
      const { order } = await session.load(Line, 'a')
      expect((await order.load({ deleted: 'include' }))?.id).to.equal(1)
      expect((await order.load({ deleted: 'only' }))?.deletedAt).to.be.instanceOf(Date)
      expect([order.key, session.isDirty()]).to.deep.equal([1, false])
      await db.withSession(async (other) => void (await other.restore(Order, 1)))
      expect(await (await db.session().load(Line, 'a')).order.load({ deleted: 'only' })).to.equal(null)
    })

    it('is refused where deletes leave nothing to show', async () => {
      const order = await db.session().load(Order, 1)
      const refused = (error: unknown): unknown => (error as SkeinError).code
      expect(await order.stamps.load({ deleted: 'include' }).catch(refused)).to.equal('SKEIN_2320')
      expect(await order.lines.load({ deleted: 'all' as 'only' }).catch(refused)).to.equal('SKEIN_2320')
      const line = await db.session().load(Line, 'a')
      expect(await line.order.load({ deleted: 'all' as 'only' }).catch(refused)).to.equal('SKEIN_2320')
    })
  })
}
