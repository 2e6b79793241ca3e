import { expect } from 'chai'
import type { Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import {
  idsOf,
  LINKS,
  Watch,
  linksOf,
  ordersIn,
  type Customer,
  type Order,
  type Tag,
  type Watcher,
} from './archive-link-models.js'
import { rejection } from '../rejection.js'

for (const mode of MODES) {
  describe(`archives of a record whose links lead to others that stay (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const classes = ordersIn(cold)
    const { Order, Customer, Tag, Watcher } = classes
    let db: Database
    useDatabase(mode, classes.all, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.client.truncate(cold, 'al_order', 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession((session) => {
        const customer = session.create(Customer, { id: 'ann' })
        const tags = [1, 2].map((id) => session.create(Tag, { id }))
        const watcher = session.create(Watcher, { id: 7 })
        const [first, second] = [1, 2].map((id) => session.create(Order, { id, text: `o${id}` }))
        for (const order of [first, second]) {
          order.customer.set(customer)
          order.tags.add(...tags)
          order.watchers.link(watcher, Object.assign(new Watch(), { why: 'paid' }))
        }
        first.like.add(second)
      })
    })
    const findings = async (repair = false, from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      const verified = from === undefined ? classes.all : [Order]
      for await (const each of db.verify(verified, { settle: 0, repair, ...(from && { from }) }))
        found.push(`${each.kind} ${each.className}.${each.property} ${each.state}`)
      return found
    }
    const load = (id = 1, from?: 'archive'): Promise<Order> =>
      db.session().load<Order>(Order, id, { with: LINKS, ...(from && { from }) })
    const hot = async (): Promise<unknown[]> => {
      const session = db.session()
      const customer = await session.load<Customer>(Customer, 'ann', { with: ['orders'] as never })
      const tag = await session.load<Tag>(Tag, 1, { with: ['orders'] as never })
      const watcher = await session.load<Watcher>(Watcher, 7, { with: ['orders'] as never })
      return [customer, tag, watcher].map(({ orders }) => [orders.items.map(({ id }) => id), orders.dangling])
    }

    it('leave the keys at the other side, which names what is archived, and bring all links back', async () => {
      const before = linksOf(await load())
      expect(before).to.deep.equal(['ann', [1, 2], [7], [2]])
      expect(await db.session().archive(Order, 1)).to.equal(true)
      expect(await hot()).to.deep.equal([1, 2, 3].map(() => [[2], [1]]))
      const session = db.session()
      const tag = await session.load<Tag>(Tag, 1)
      expect([await tag.orders.count(), await tag.orders.contains(1)]).to.deep.equal([2, true])
      expect(await session.walk<Tag>(tag).out('orders').count()).to.equal(1)
      expect([await findings(true), await findings(true, 'archive')]).to.deep.equal([[], []])
      expect(linksOf(await load(1, 'archive')).slice(0, 3)).to.deep.equal(['ann', [1, 2], [7]])

      expect(await db.session().unarchive(Order, 1)).to.equal(true)
      const order = await load()
      expect([...linksOf(order), order.tagCount]).to.deep.equal([...before, 2])
      expect(await order.watchers.attributesOf(7)).to.deep.include({ why: 'paid', weight: 2 })
      expect([await findings(), await findings(false, 'archive')]).to.deep.equal([[], []])
    })

    it('are loaded from the other side with `from`, which manages nothing then', async () => {
      await db.session().archive(Order, 1)
      const session = db.session()
      const any = { from: 'any', with: ['orders.tags', 'orders.like'] as never } as const
      for (const loaded of [
        await session.load<Customer>(Customer, 'ann', any),
        await session.load<Tag>(Tag, 1, any),
        await session.load<Watcher>(Watcher, 7, any),
      ]) {
        const { orders } = loaded as Tag
        expect([orders.items.map(({ id, text }) => [id, text]), orders.dangling]).to.deep.equal([
          [
            [1, 'o1'],
            [2, 'o2'],
          ],
          [],
        ])
        expect(orders.items.map(({ tags, like }) => [idsOf(tags), idsOf(like)])).to.deep.equal([
          [[1, 2], [2]],
          [[1, 2], [1]],
        ])
        expect(await rejection(() => session.save(orders.items[0]))).to.include({ code: 'SKEIN_2319' })
      }
      const [{ like }] = (await session.findMany<Order>(Order, [1], { from: 'archive', with: ['like'] as never })) as [
        Order,
      ]
      expect(idsOf(like)).to.deep.equal([2])
      expect(await rejection(() => session.load(Tag, 1, { from: 'any' }))).to.include({ code: 'SKEIN_2318' })
      expect(await rejection(() => session.load(Tag, 1, { ...any, from: 'archive' }))).to.include({
        code: 'SKEIN_2318',
      })
    })

    it('drop links that the other side has dropped meanwhile, or whose other side was deleted', async () => {
      await db.session().archive(Order, 1)
      await db.withSession(async (session) => {
        const tag = await session.load<Tag>(Tag, 1)
        tag.orders.remove(1)
        const customer = await session.load<Customer>(Customer, 'ann')
        customer.orders.remove(1)
        ;(await session.load<Order>(Order, 2)).like.remove(1)
      })
      await db.session().delete(Watcher, 7)
      expect(await findings()).to.deep.equal([])
      expect(await findings(false, 'archive')).to.have.members([
        'missingLink Order.customer found',
        'oneSidedLink Order.tags found',
        'oneSidedLink Order.like found',
        'danglingKey Order.watchers found',
      ])
      await db.session().unarchive(Order, 1)
      const order = await load()
      expect([...linksOf(order), order.tagCount]).to.deep.equal([null, [2], [], [], 1])
      expect([await findings(), await findings(false, 'archive')]).to.deep.equal([[], []])
    })

    it('are repaired in the archive', async () => {
      await db.session().archive(Order, 1)
      await db.session().delete(Tag, 1)
      await db.withSession(async (session) => void (await session.load<Tag>(Tag, 2)).orders.remove(1))
      expect(await findings(true, 'archive')).to.have.members([
        'danglingKey Order.tags repaired',
        'oneSidedLink Order.tags repaired',
      ])
      expect(await findings(false, 'archive')).to.deep.equal([])
      const order = await db.session().load(Order, 1, { from: 'archive' })
      expect([await rejection(() => order.tags.keys()), order.tagCount]).to.have.property('1', 0)
    })

    it('take no new links, and keep those they have when one is made again', async () => {
      await db.session().archive(Order, 1)
      for (const add of [
        async () => db.withSession(async (session) => void (await session.load<Tag>(Tag, 1)).orders.add(1)),
        async () =>
          db.withSession(
            async (session) =>
              void (await session.load<Watcher>(Watcher, 7)).orders.link(
                1,
                Object.assign(new Watch(), { why: 'again' }),
              ),
          ),
        async () =>
          db.withSession(async (session) => void (await session.load<Customer>(Customer, 'ann')).orders.add(1)),
        async () => db.withSession(async (session) => void (await session.load<Order>(Order, 2)).like.add(1)),
      ])
        expect(await rejection(add), String(add))
          .to.have.property('name')
          .that.is.oneOf(['EntityGoneError', 'PartialFailureError'])
      expect(await findings()).to.deep.equal([])
      expect(await findings(false, 'archive')).to.deep.equal([])
      await db.session().unarchive(Order, 1)
      expect(linksOf(await load())).to.deep.equal(['ann', [1, 2], [7], [2]])
    })

    it('are archived at both sides, and come back one by one', async () => {
      for (const id of [1, 2]) await db.session().archive(Order, id)
      expect([await findings(true), await findings(true, 'archive')]).to.deep.equal([[], []])
      await db.session().unarchive(Order, 2)
      expect((await load(2)).like.dangling).to.deep.equal([1])
      expect([await findings(true), await findings(true, 'archive')]).to.deep.equal([[], []])
      await db.session().unarchive(Order, 1)
      expect(linksOf(await load())).to.deep.equal(['ann', [1, 2], [7], [2]])
    })
  })
}
