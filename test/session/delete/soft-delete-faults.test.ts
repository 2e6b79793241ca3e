import { expect } from 'chai'
import type { Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { MODES, need } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import { ALL, Bill, Client, Event, Line, Order, Tag, make } from './soft-delete-models.js'

const FORBIDDEN = 22
const CASCADED = [Order, Line, Event, Bill]

for (const mode of MODES) {
  describe(`soft deletes with faults (${mode})`, () => {
    let db: Database
    let embedded: EmbeddedServer | undefined
    let server: EmbeddedServer
    useDatabase(mode, ALL, (opened) => {
      db = opened.db
      embedded = opened.server.embedded
    })
    beforeEach(async function () {
      server = need(this, embedded, 'faults need the embedded server')
      const order = make(new Order(), 1)
      order.lines.add(make(new Line(), 'l1'), make(new Line(), 'l2'))
      order.events.add(make(new Event(), 'e1'))
      order.bill.set(Object.assign(new Bill(), { cents: 5 }))
      order.tags.add(make(new Tag(), 't'))
      const client = make(new Client(), 'c')
      client.orders.add(order)
      await db.withSession(async (session) => void session.persist(client))
    })
    afterEach(() => server?.faults.clear())

    const live = (): Promise<number[]> => Promise.all(CASCADED.map((each) => db.scan<object>(each).count()))
    const all = (): Promise<number[]> =>
      Promise.all(CASCADED.map((each) => db.scan<object>(each, { deleted: 'include' }).count()))
    const checkLinks = async (): Promise<void> => {
      for (const each of [...CASCADED, Client, Tag])
        for await (const finding of db.verify(each, { settle: 0 })) expect.fail(String(finding.message))
    }
    const failing = async (set: string, work: () => Promise<unknown>): Promise<void> => {
      const met = await server.faults.add({ kind: ['write', 'delete'], set, answer: FORBIDDEN, times: 100 })
      await rejection(work)
      expect(await met.hits()).to.be.greaterThan(0)
      await server.faults.clear()
    }

    for (const set of ['sd_order', 'sd_line', 'sd_event', 'sd_bill']) {
      it(`leave nothing half done when a write to ${set} fails, once they are repeated`, async () => {
        await failing(set, () => db.withSession((session) => session.delete(Order, 1)))
        await checkLinks()
        expect(await db.withSession((session) => session.delete(Order, 1))).to.equal(true)
        expect(await live()).to.deep.equal([0, 0, 0, 0])
        await checkLinks()
        expect(await db.withSession((session) => session.restore(Order, 1))).to.equal(true)
        // Without a transaction, what the first attempt deleted has a time of its own.
        if (mode === 'ap')
          await db.withSession(async (session) => {
            for (const each of await session.query(Line, { deleted: 'only' }).scan().toArray())
              await session.restore(each)
            for (const each of await session.query(Event, { deleted: 'only' }).scan().toArray())
              await session.restore(each)
            for (const each of await session.query(Bill, { deleted: 'only' }).scan().toArray())
              await session.restore(each)
          })
        expect(await live()).to.deep.equal([1, 2, 1, 1])
        await checkLinks()
      })

      it(`are restored as a whole when a write to ${set} fails and the restore is repeated`, async () => {
        await db.withSession((session) => session.delete(Order, 1))
        const session = db.session()
        const order = await session.load(Order, 1, { deleted: 'include' })
        await failing(set, () => session.restore(order))
        expect(order.deletedAt, 'it still says that it is deleted').to.be.instanceOf(Date)
        expect(await db.withSession((other) => other.restore(Order, 1))).to.equal(true)
        expect(await live()).to.deep.equal([1, 2, 1, 1])
        await checkLinks()
        await session.close()
      })
    }

    for (const set of ['sd_order', 'sd_client', 'sd_tag'])
      it(`are purged when a write to ${set} fails and the purge is repeated`, async () => {
        await db.withSession((session) => session.delete(Order, 1))
        const olderThan = new Date(Date.now() + 1000)
        await failing(set, () => db.purge(Order, { olderThan }))
        await db.purge(Order, { olderThan })
        for (const each of [Line, Event, Bill]) await db.purge(each, { olderThan })
        expect(await all()).to.deep.equal([0, 0, 0, 0])
        await checkLinks()
      })

    it('in doubt are done, or can be repeated', async () => {
      const session = db.session()
      const order = await session.load(Order, 1)
      await server.faults.add({ kind: 'write', set: 'sd_order', drop: true, after: true, times: 1 })
      await session.delete(order).catch(() => session.delete(order).catch(() => false))
      await server.faults.clear()
      await db.withSession((other) => other.delete(Order, 1))
      expect((await live())[0]).to.equal(0)
      await checkLinks()
      await session.close()
    })
  })
}
