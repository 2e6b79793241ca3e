import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import { ALL, Bill, Client, Event, Line, Order, Tag, make } from './soft-delete-models.js'

for (const mode of MODES) {
  describe(`loads with relations and { deleted } (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))
    beforeEach(async () => {
      const order = make(new Order(), 1)
      order.lines.add(make(new Line(), 'l1'), make(new Line(), 'l2'))
      order.events.add(make(new Event(), 'e1'))
      order.bill.set(Object.assign(new Bill(), { cents: 5 }))
      order.tags.add(make(new Tag(), 't'))
      const client = make(new Client(), 'c')
      client.orders.add(order)
      await db.withSession(async (session) => void session.persist(client))
    })

    it('reach deleted entities over every relation that is named', async () => {
      await db.withSession(async (session) => session.delete(Order, 1))
      const paths = ['lines', 'events', 'bill', 'tags'] as const
      for (const deleted of ['include', 'only'] as const) {
        const order = await db.session().load(Order, 1, { with: paths, deleted })
        expect(order.lines.items.map(({ id }) => id)).to.deep.equal(['l1', 'l2'])
        expect(order.events.items.map(({ id }) => id)).to.deep.equal(['e1'])
        expect(order.bill.value?.cents).to.equal(5)
        expect(order.tags.items.map(({ id }) => id)).to.deep.equal(['t'])
      }
    })

    it('reach them from a class that has no soft deletes, and from a child to its parent', async () => {
      await db.withSession(async (session) => session.delete(Order, 1))
      const session = db.session()
      const client = await session.load(Client, 'c', { with: ['orders.lines'], deleted: 'include' })
      expect(client.orders.items.map(({ id, lines }) => [id, lines.items.length])).to.deep.equal([[1, 2]])
      const line = await db.session().load(Line, 'l1', { with: ['order'], deleted: 'include' })
      expect(line.order.value?.id).to.equal(1)
      expect((await db.session().load(Client, 'c', { with: ['orders.lines'] })).orders.items).to.deep.equal([])
    })

    it('show members that were deleted by themselves beside the others, and save nothing of it', async () => {
      await db.withSession(async (session) => session.delete(Line, 'l1'))
      const session = db.session()
      const order = await session.load(Order, 1, { with: ['lines'], deleted: 'include' })
      expect(order.lines.items.map(({ id, deletedAt }) => [id, deletedAt === undefined])).to.deep.equal([
        ['l1', false],
        ['l2', true],
      ])
      expect(await order.lines.count()).to.equal(1)
      expect((await session.explain()).commands).to.deep.equal([])
      await session.flush()
      expect((await db.session().load(Order, 1, { with: ['lines'] })).lines.items.map(({ id }) => id)).to.deep.equal([
        'l2',
      ])
    })

    it('work for queries too', async () => {
      await db.withSession(async (session) => session.delete(Order, 1))
      const [order] = await db.session().query(Order, { deleted: 'only' }).scan().with('lines').toArray()
      expect(order.lines.items).to.have.length(2)
    })

    it('are refused where nothing that is named has soft deletes', async () => {
      const load = (): Promise<unknown> => db.session().load(Tag, 't', { with: [], deleted: 'include' })
      expect(await rejection(load)).to.include({ code: 'SKEIN_2320' })
      const only = (): Promise<unknown> => db.session().load(Client, 'c', { with: ['orders'], deleted: 'only' })
      expect(await rejection(only)).to.include({ code: 'SKEIN_2320' })
    })
  })
}
