import { expect } from 'chai'
import type { Database } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { LINKS, linksOf, ordersIn, Watch, type Customer, type Order, type Tag } from './archive-link-models.js'

const { Order: AnOrder, Customer: ACustomer, Tag: ATag, Watcher: AWatcher, all } = ordersIn('cold')

// A move between namespaces is never a transaction, so both modes do the same.
for (const mode of process.env.SKEIN_FAULTS === 'all' ? MODES : (['ap'] as const)) {
  describe(`archives of a record with links to others that stay, with a fault at each command (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, all)

    const store = async (db: Database): Promise<void> => {
      await db.session().unarchive(AnOrder, 1)
      await db.session().delete(AnOrder, 1)
      await db.withSession((session) => {
        const order = session.create(AnOrder, { id: 1, text: 't' })
        order.customer.set(session.create(ACustomer, { id: 'ann' }))
        order.tags.add(...[1, 2].map((id) => session.create(ATag, { id })))
        order.watchers.link(session.create(AWatcher, { id: 7 }), Object.assign(new Watch(), { why: 'w' }))
      })
    }
    const load = (db: Database): Promise<Order> => db.session().load<Order>(AnOrder, 1, { with: LINKS })
    /** Both sides agree, wherever the order is; a move that was cut off is all that may be reported. */
    const agree = async (db: Database, where: string, repair: boolean): Promise<void> => {
      for (const from of [undefined, 'archive'] as const)
        for await (const { kind, state, message } of db.verify(from ? [AnOrder] : all, {
          settle: 0,
          repair,
          ...(from && { from }),
        }))
          expect([kind, state], `${where}: ${message}`).to.deep.equal(['unfinishedArchive', 'found'])
    }

    it('lose no link when they are archived, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(AnOrder, 1),
        check: async (db, _error, where) => {
          expect((await db.session().load(AnOrder, 1, { from: 'any' })).text, where).to.equal('t')
          await agree(db, where, true)
          await db.session().archive(AnOrder, 1)
          expect(await db.session().find(AnOrder, 1), where).to.equal(null)
          await db.session().unarchive(AnOrder, 1)
          expect(linksOf(await load(db)), where).to.deep.equal(['ann', [1, 2], [7], []])
        },
      })
    })

    it('drop what the other side has dropped meanwhile, wherever the way back was cut off', async () => {
      await server.disturb({
        prepare: async (db) => {
          await store(db)
          await db.session().archive(AnOrder, 1)
          await db.withSession(async (session) => {
            ;(await session.load<Tag>(ATag, 1)).orders.remove(1)
            ;(await session.load<Customer>(ACustomer, 'ann')).orders.remove(1)
          })
          await db.session().delete(AWatcher, 7)
        },
        work: (db) => db.session().unarchive(AnOrder, 1),
        check: async (db, _error, where) => {
          const isThere = (await db.session().find(AnOrder, 1)) !== null
          if (isThere) for await (const _ of db.verify(all, { settle: 0, repair: true }));
          await db.session().unarchive(AnOrder, 1)
          expect(linksOf(await load(db)), where).to.deep.equal([null, [2], [], []])
          const session = db.session()
          const tag = await session.load<Tag>(ATag, 1, { with: ['orders'] as never })
          expect(tag.orders.items, where).to.deep.equal([])
          // The record takes links again.
          tag.orders.add(1)
          await session.flush()
          expect((await load(db)).tagCount, where).to.equal(2)
          await agree(db, where, false)
        },
      })
    })
  })
}
