import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { AlreadyExistsError, EntityGoneError, RestrictedError, VersionConflictError, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import {
  Crate,
  Depot,
  ALL,
  Asset,
  Bill,
  Client,
  Event,
  Hold,
  Image,
  Line,
  Note,
  Order,
  Tag,
  make,
  note,
} from './soft-delete-models.js'

const ids = (entities: readonly { readonly id: unknown }[]): unknown[] => entities.map(({ id }) => id)

for (const mode of MODES) {
  describe(`soft deletes (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, ALL, (opened) => ({ db, server } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const findings = async (...classes: (new () => object)[]): Promise<unknown[]> => {
      const found: unknown[] = []
      for (const each of classes) for await (const finding of db.verify(each, { settle: 0 })) found.push(finding)
      return found
    }

    /** Order 1 of client c with two lines, two events, a bill and tag t. */
    const orders = async (): Promise<void> => {
      const order = make(new Order(), 1)
      order.lines.add(make(new Line(), 'l1'), make(new Line(), 'l2'))
      order.events.add(make(new Event(), 'e1'), make(new Event(), 'e2'))
      order.bill.set(Object.assign(new Bill(), { cents: 5 }))
      order.tags.add(make(new Tag(), 't'))
      const client = make(new Client(), 'c')
      client.orders.add(order, make(new Order(), 2))
      await store(client)
    }

    it('are one write; the record stays, and loads as gone', async () => {
      await store(note('a'), note('b'))
      const session = db.session()
      const a = await session.load(Note, 'a')
      const { commands } = await server.commands.during(async () => expect(await session.delete(a)).to.equal(true))
      expect(commands).to.equal(1)
      expect(await session.find(Note, 'a')).to.equal(null)
      expect(await session.findMany(Note, ['a', 'b'], { only: ['text'] })).to.have.property('0', null)
      expect(await db.read(Note, ['a', 'b'])).to.have.property('0', null)
      expect(await db.session().find(Note, 'a')).to.equal(null)
      expect(ids(await db.scan(Note).toArray())).to.deep.equal(['b'])
      expect(await session.delete(Note, 'a')).to.equal(false)
      const kept = await session.load(Note, 'a', { deleted: 'include' })
      expect(kept.deletedAt).to.be.instanceOf(Date)
      expect(kept.text).to.equal('a')
      await session.close()
    })

    it('are shown to those who ask, by loads, reads and queries', async () => {
      await store(note('a'), note('b'))
      await db.withSession((session) => session.delete(Note, 'a'))
      const session = db.session()
      expect(ids(await session.loadMany(Note, ['a', 'b'], { deleted: 'include' }))).to.deep.equal(['a', 'b'])
      expect(await session.find(Note, 'a')).to.equal(null)
      expect(await session.find(Note, 'b', { deleted: 'only' })).to.equal(null)
      expect((await session.find(Note, 'a', { deleted: 'only', only: ['text'] }))?.text).to.equal('a')
      const [read] = await db.read(Note, ['a'], { deleted: 'include' })
      expect(read?.text).to.equal('a')
      expect(ids(await db.scan(Note, { deleted: 'only' }).toArray())).to.deep.equal(['a'])
      expect(await db.scan(Note, { deleted: 'include' }).count()).to.equal(2)
      const [managed] = await db.session().query(Note, { deleted: 'only' }).scan().toArray()
      expect(managed.id).to.equal('a')
      await session.close()
    })

    it('are restored as if nothing had been', async () => {
      await store(note('a', 'text'))
      const session = db.session()
      await session.delete(Note, 'a')
      expect(await session.restore(Note, 'a')).to.equal(true)
      expect(await session.restore(Note, 'a')).to.equal(false)
      const a = await db.session().load(Note, 'a')
      expect(a).to.include({ text: 'text', deletedAt: undefined })
      const error = await rejection(() => session.restore(Note, 'missing'))
      expect(error).to.have.property('code', 'SKEIN_3001')
      await session.close()
    })

    it('take along what cascades, at the same time, and bring it back', async () => {
      await orders()
      await db.withSession(async (session) => session.delete(await session.load(Line, 'l2')))
      // A restore brings back what has the same time, and times are of milliseconds.
      await pause(2)
      const session = db.session()
      const order = await session.load(Order, 1)
      await session.delete(order)
      expect(order.calls).to.deep.equal(['before', 'after'])
      const count = async (): Promise<number[]> =>
        Promise.all([Order, Line, Event, Bill].map((each) => db.scan<object>(each).count()))
      expect(await count()).to.deep.equal([1, 0, 0, 0])
      expect(await findings(Order, Line, Event, Bill, Client, Tag)).to.deep.equal([])
      const again = db.session()
      const deleted = await again.load(Order, 1, { deleted: 'include' })
      expect(deleted.version).to.equal(2)
      expect(await again.restore(deleted)).to.equal(true)
      expect(deleted.deletedAt).to.equal(undefined)
      expect(await count(), 'the line that was deleted before stays deleted').to.deep.equal([2, 1, 2, 1])
      const back = await db.session().load(Order, 1, { with: ['lines', 'events', 'bill', 'tags', 'client'] })
      expect(ids(back.lines.items)).to.deep.equal(['l1'])
      expect(ids(back.events.items).sort()).to.deep.equal(['e1', 'e2'])
      expect(back.bill.value?.cents).to.equal(5)
      expect(ids(back.tags.items)).to.deep.equal(['t'])
      expect(back.client.value?.id).to.equal('c')
      expect(await findings(Order, Line, Event, Bill, Client, Tag)).to.deep.equal([])
      await again.close()
      await session.close()
    })

    it('are left out by collections, references and walks on both sides', async () => {
      await orders()
      const watching = db.session()
      const shown = await watching.load(Client, 'c', { with: ['orders'] })
      await watching.delete(Order, 1)
      expect(ids(shown.orders.items), 'the session that deleted it').to.deep.equal([2])
      const session = db.session()
      const client = await session.load(Client, 'c')
      expect(await client.orders.count()).to.equal(1)
      expect(await client.orders.keys()).to.deep.equal([2])
      expect(await client.orders.contains(1)).to.equal(false)
      expect([
        await client.orders.contains(1, { deleted: 'include' }),
        await client.orders.contains(1, { deleted: 'only' }),
        await client.orders.contains(2, { deleted: 'only' }),
      ]).to.deep.equal([true, true, false])
      expect(ids(await client.orders.page({ count: 5 }))).to.deep.equal([2])
      expect(await client.orders.count({ deleted: 'include' })).to.equal(2)
      expect(await client.orders.keys({ deleted: 'only' })).to.deep.equal([1])
      expect(ids(await client.orders.page({ count: 5, deleted: 'only' }))).to.deep.equal([1])
      expect(await session.walk(client).out('orders').keys()).to.deep.equal([2])
      expect(await session.walk(client).out('orders', { limit: 1 }).keys()).to.deep.equal([2])
      expect(await session.walk(Client, 'c', { deleted: 'include' }).out('orders').out('lines').keys()).to.deep.equal([
        'l1',
        'l2',
      ])
      const other = db.session()
      const found = await other.load(Client, 'c', { with: ['orders'] })
      expect(ids(found.orders.items)).to.deep.equal([2])
      const streamed: unknown[] = []
      for await (const each of (await db.session().load(Client, 'c')).orders.stream()) streamed.push(each.id)
      expect(streamed).to.deep.equal([2])
      expect(await (await other.load(Tag, 't')).orders.load()).to.deep.equal([])
      const line = await other.load(Line, 'l1', { deleted: 'include' })
      expect(line.order.key).to.equal(1)
      expect(await line.order.load()).to.equal(null)
      const order = await db.session().load(Order, 1, { deleted: 'include' })
      expect(await order.events.count()).to.equal(0)
      expect(await order.events.count({ deleted: 'only' })).to.equal(2)
      const [event] = await order.events.keys({ deleted: 'only' })
      expect([
        await order.events.contains(event),
        await order.events.contains(event, { deleted: 'include' }),
        await order.events.contains(event, { deleted: 'only' }),
      ]).to.deep.equal([false, true, true])
      for (const each of [watching, session, other]) await each.close()
    })

    it('do not touch what another session still has: its writes find it gone', async () => {
      await orders()
      const session = db.session()
      const order = await session.load(Order, 2)
      const a = session.persist(note('a'))
      await session.save(a)
      await db.withSession(async (other) => {
        await other.delete(Order, 2)
        await other.delete(Note, 'a')
      })
      a.text = 'late'
      expect(await rejection(() => session.save(a))).to.be.instanceOf(EntityGoneError)
      expect(await rejection(() => session.refresh(a))).to.be.instanceOf(EntityGoneError)
      session.detach(a)
      session.at(Note, 'a').counter('views').add(1)
      expect(await rejection(() => session.flush())).to.satisfy(isGone)
      order.state = 'late'
      expect(await rejection(() => session.save(order))).to.be.instanceOf(VersionConflictError)
      const late = db.session()
      const l9 = late.create(Line, { id: 'l9' })
      l9.order.set(2)
      expect(await rejection(() => late.save(l9))).to.satisfy(isGone)
      await late.close()
      await session.close()
    })

    it('keep their key: a new entity under it is refused, and an upsert takes its place', async () => {
      await store(note('a', 'old'))
      const session = db.session()
      await session.delete(Note, 'a')
      expect(await rejection(() => session.save(note('a', 'new')))).to.be.instanceOf(AlreadyExistsError)
      const other = db.session()
      await other.upsert(note('a', 'new'))
      expect(await db.session().load(Note, 'a')).to.include({ text: 'new', deletedAt: undefined })
      await session.close()
    })

    it('give way to an upsert, and to a restore, that adds links in the same flush', async () => {
      await orders()
      const session = db.session()
      await session.delete(Order, 1)
      const order = make(new Order(), 1)
      order.lines.add(make(new Line(), 'new'))
      order.tags.add(make(new Tag(), 'new'))
      await db.session().upsert(order)
      const back = await db.session().load(Order, 1, { with: ['lines', 'tags'] })
      expect(ids(back.lines.items)).to.deep.equal(['new'])
      expect(ids(back.tags.items)).to.deep.equal(['new', 't'])
      await db.withSession((other) => other.delete(Order, 2))
      const other = db.session()
      const deleted = await other.load(Order, 2, { deleted: 'include' })
      deleted.lines.add(other.create(Line, { id: 'later' }))
      await other.restore(deleted)
      expect(await (await db.session().load(Order, 2)).lines.keys()).to.deep.equal(['later'])
      expect(await findings(Order, Line, Tag)).to.deep.equal([])
      await session.close()
    })

    it('let a child that was restored alone move away from its deleted parent', async () => {
      await orders()
      const session = db.session()
      await session.delete(Order, 1)
      await session.restore(Line, 'l1')
      const line = await session.load(Line, 'l1')
      line.order.set(2)
      await session.save(line)
      await session.restore(Order, 1)
      expect(await (await db.session().load(Order, 1)).lines.keys()).to.deep.equal(['l2'])
      expect(await (await db.session().load(Order, 2)).lines.keys()).to.deep.equal(['l1'])
      expect(await findings(Order, Line)).to.deep.equal([])
      await session.close()
    })

    it('of an entity that another session has deleted are a conflict, or nothing', async () => {
      await store(make(new Order(), 1), note('a'))
      const [one, two] = [db.session(), db.session()]
      const orders = [await one.load(Order, 1), await two.load(Order, 1)]
      const notes = [await one.load(Note, 'a'), await two.load(Note, 'a')]
      expect(await one.delete(orders[0])).to.equal(true)
      expect(await one.delete(notes[0])).to.equal(true)
      expect(await rejection(() => two.delete(orders[1]))).to.be.instanceOf(VersionConflictError)
      expect(await two.delete(notes[1])).to.equal(false)
      expect(await rejection(() => one.save(orders[0]))).to.be.instanceOf(AlreadyExistsError)
      await one.close()
      await two.close()
    })

    it('are refused by members that stay, and not by deleted ones', async () => {
      const order = make(new Order(), 1)
      order.holds.add(make(new Hold(), 'h'))
      await store(order)
      const session = db.session()
      expect(await rejection(() => session.delete(Order, 1))).to.be.instanceOf(RestrictedError)
      await session.delete(Hold, 'h')
      expect(await session.delete(Order, 1)).to.equal(true)
      expect(await session.restore(Order, 1)).to.equal(true)
      expect(await session.restore(Hold, 'h')).to.equal(true)
      expect(ids(await (await db.session().load(Order, 1)).holds.load())).to.deep.equal(['h'])
      await session.close()
    })

    it('of orphans leave them where they were, so that a restore brings them back', async () => {
      await orders()
      const session = db.session()
      const order = await session.load(Order, 1, { with: ['lines'] })
      order.lines.remove(order.lines.items[0])
      await session.save(order)
      expect(ids(order.lines.items)).to.deep.equal(['l2'])
      expect(session.isDirty(order)).to.equal(false)
      expect(await db.session().find(Line, 'l1')).to.equal(null)
      expect(await findings(Order, Line)).to.deep.equal([])
      expect(await session.restore(Line, 'l1')).to.equal(true)
      const back = await db.session().load(Order, 1, { with: ['lines'] })
      expect(ids(back.lines.items)).to.deep.equal(['l1', 'l2'])
      await session.close()
    })

    it('are collected by a flush with other changes, and explained', async () => {
      await store(note('a'), note('b'))
      const session = db.session()
      const [a, b] = await session.loadMany(Note, ['a', 'b'])
      session.remove(a)
      b.text = 'changed'
      const plan = String(await session.explain())
      expect(plan).to.include('write Note sd_note/"a"').and.include('deletedAt').and.not.include('delete Note')
      const { commands } = await server.commands.during(() => session.flush())
      expect(commands).to.equal(1)
      expect(await db.scan(Note).count()).to.equal(1)
      await session.close()
    })

    it('by queries stamp what is found, in sessions', async () => {
      await store(note('a'), note('b'))
      const result = await db.scan(Note).where({ text: 'a' }).delete()
      expect(result).to.include({ written: 1, by: 'sessions', because: 'the class has a @DeletedAt' })
      expect(await db.scan(Note, { deleted: 'only' }).count()).to.equal(1)
    })

    it('are made step by step of many children of a parent that goes for good', async () => {
      await db.withSession((session) => {
        const depot = session.create(Depot, { id: 1 })
        for (let id = 0; id < 30; id++) depot.crates.add(session.create(Crate, { id }))
      })
      await db.session().delete(Depot, 1, { step: 10 })
      expect(await db.session().find(Depot, 1)).to.equal(null)
      expect(await db.scan(Crate).count()).to.equal(0)
      expect(await db.scan(Crate, { deleted: 'only' }).count()).to.equal(30)
    })

    it('are purged for good, with the links to them, once they are old enough', async () => {
      await orders()
      const session = db.session()
      await session.delete(Order, 1)
      const soon = new Date(Date.now() + 1000)
      expect(await db.purge(Order, { olderThan: new Date(Date.now() - 60_000) })).to.equal(0)
      const progress: number[] = []
      const onProgress = ({ purged }: { purged: number }): number => progress.push(purged)
      expect(await db.purge(Order, { olderThan: soon, onProgress })).to.equal(1)
      expect(progress).to.deep.equal([1])
      expect(await db.scan(Order, { deleted: 'include' }).count()).to.equal(1)
      for (const each of [Line, Event, Bill]) await db.purge(each, { olderThan: soon })
      for (const each of [Line, Event, Bill])
        expect(await db.scan<object>(each, { deleted: 'include' }).count()).to.equal(0)
      const client = await db.session().load(Client, 'c')
      expect(await client.orders.keys({ deleted: 'include' })).to.deep.equal([2])
      expect(await (await db.session().load(Tag, 't')).orders.keys({ deleted: 'include' })).to.deep.equal([])
      expect(await findings(Order, Client, Tag)).to.deep.equal([])
      await session.close()
    })

    it('are restored while a purge is under way, and stay', async () => {
      await store(note('a'), note('b'))
      await db.withSession(async (session) => {
        await session.delete(Note, 'a')
        await session.delete(Note, 'b')
      })
      const soon = new Date(Date.now() + 1000)
      const results = await Promise.allSettled([db.purge(Note, { olderThan: soon }), db.session().restore(Note, 'a')])
      const left = ids(await db.scan(Note, { deleted: 'include' }).toArray())
      expect(left).to.deep.equal(results[1].status === 'fulfilled' ? ['a'] : [])
    })

    it('work by base class and tenant, each for itself', async () => {
      for (const tenant of ['acme', 'bolt'])
        await db.withSession(
          async (session) => {
            session.persist(Object.assign(new Image(), { id: 1, width: 3 }))
            session.persist(make(new Asset(), 2))
          },
          { tenant },
        )
      const session = db.session({ tenant: 'acme' })
      expect(await session.delete(Asset, 1)).to.equal(true)
      expect(await session.find(Image, 1)).to.equal(null)
      expect((await session.find(Asset, 1, { deleted: 'only' }))?.constructor).to.equal(Image)
      expect(await db.session({ tenant: 'bolt' }).find(Asset, 1)).to.not.equal(null)
      expect(await session.query(Asset).scan().count()).to.equal(1)
      expect(await rejection(() => db.purge(Asset, { olderThan: new Date() }))).to.have.property('code', 'SKEIN_2105')
      const olderThan = new Date(Date.now() + 1000)
      expect(await db.purge(Asset, { olderThan, tenant: 'bolt' })).to.equal(0)
      expect(await db.purge(Asset, { olderThan, tenant: 'acme' })).to.equal(1)
      expect(await db.session({ tenant: 'acme' }).find(Asset, 1, { deleted: 'include' })).to.equal(null)
      await session.close()
    })

    it('take part in transactions, and are undone with them', async () => {
      if (mode !== 'sc') return
      await orders()
      const outside = { outsideTransaction: true }
      const stopped = await rejection(() =>
        db.transaction(async (session) => {
          await session.delete(Order, 1, outside)
          throw new Error('stop')
        }),
      )
      expect(stopped).to.have.property('message', 'stop')
      expect(await db.scan(Line).count()).to.equal(2)
      await db.transaction((session) => session.delete(Order, 2, outside))
      await db.transaction((session) => session.restore(Order, 2, outside))
      expect(await db.scan(Order).count()).to.equal(2)
    })

    it('are refused where the class has none, before anything is sent', async () => {
      const session = db.session()
      const { commands } = await server.commands.during(async () => {
        const code = async (work: () => Promise<unknown>): Promise<unknown> =>
          ((await rejection(work)) as { code?: string }).code
        expect(await code(() => session.load(Client, 'c', { deleted: 'include' }))).to.equal('SKEIN_2320')
        expect(await code(() => session.load(Note, 'c', { deleted: 'all' as 'include' }))).to.equal('SKEIN_2320')
        expect(await code(() => db.read(Client, ['c'], { deleted: 'include' }))).to.equal('SKEIN_2320')
        expect(await code(async () => db.scan(Client, { deleted: 'only' }))).to.equal('SKEIN_2320')
        expect(await code(() => session.restore(Client, 'c'))).to.equal('SKEIN_2316')
        expect(await code(() => db.purge(Client, { olderThan: new Date() }))).to.equal('SKEIN_2316')
        expect(await code(() => db.purge(Note, { olderThan: 5 as unknown as Date }))).to.equal('SKEIN_2320')
        const tags = session.create(Order, { id: 9 }).tags
        expect(await code(() => tags.count({ deleted: 'include' }))).to.equal('SKEIN_2320')
      })
      expect(commands).to.equal(0)
      await session.close()
    })
  })
}

function isGone(error: unknown): boolean {
  const cause = (error as { cause?: unknown }).cause
  return error instanceof EntityGoneError || cause instanceof EntityGoneError
}
