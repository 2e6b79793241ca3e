import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { Agent, ALL, Listing, Order, listing } from './models.js'

for (const mode of MODES) {
  describe(`a query of a session (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, ALL, (opened) => ({ db, server } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))

    it('gives managed entities, each once, and what is changed is flushed', async () => {
      await store(listing('a', { price: 1 }), listing('b', { price: 2 }))
      await db.withSession(async (session) => {
        const a = await session.load(Listing, 'a')
        const found = await session.query(Listing).where({ city: 'Bern' }).toArray()
        expect(found).to.include(a)
        for (const each of found) each.price += 10
      })
      expect((await db.scan(Listing).toArray()).map(({ price }) => price).sort()).to.deep.equal([11, 12])
    })

    it('finds by what is stored, shows unsent changes, and leaves out what is to be deleted', async () => {
      await store(listing('a', {}), listing('b', {}), listing('c', {}))
      const session = db.session()
      const [a, b] = await session.loadMany(Listing, ['a', 'b'])
      a.city = 'Basel'
      session.remove(b)
      session.persist(listing('n', {}))
      const found = await session.query(Listing).where({ city: 'Bern' }).toArray()
      expect(found.map(({ id, city }) => `${id} ${city}`).sort()).to.deep.equal(['a Basel', 'c Bern'])
      expect(session.isDirty(a)).to.equal(true)
      await session.flush()
      const after = await session.query(Listing).where({ city: 'Bern' }).toArray()
      expect(after.map(({ id }) => id).sort()).to.deep.equal(['c', 'n'])
      await session.close()
    })

    it('gives as many as asked for beside those that are to be deleted', async () => {
      await store(...['a', 'b', 'c', 'd'].map((id, price) => listing(id, { price })))
      const session = db.session()
      for (const each of await session.loadMany(Listing, ['a', 'b', 'c'])) session.remove(each)
      const bern = session.query(Listing).where({ city: 'Bern' })
      expect((await bern.first())?.id).to.equal('d')
      expect((await bern.orderBy('price').limit(1).toArray()).map(({ id }) => id)).to.deep.equal(['d'])
      expect(await bern.limit(2).toArray()).to.have.length(1)
      await session.close()
    })

    it('loads relations along in one batch read', async () => {
      const agents = [1, 2].map((id) => Object.assign(new Agent(), { id, name: `agent ${id}` }))
      const listings = Array.from({ length: 20 }, (_, i) => listing(`l${i}`, {}))
      listings.forEach((each, i) => each.agent.set(agents[i % 2]))
      await store(...agents, ...listings)
      const session = db.session()
      const read = session.query(Listing).where({ city: 'Bern' }).with('agent')
      const { commands } = await server.commands.during(async () => {
        const found = await read.toArray()
        expect(new Set(found.map(({ agent }) => agent.value?.name))).to.deep.equal(new Set(['agent 1', 'agent 2']))
      })
      expect(commands).to.equal(2)
      expect(String(read.explain())).to.include('loads agent along')
      expect(() => session.query(Listing).with('agnt' as 'agent')).to.throw(/no relation 'agnt'/)
      await session.close()
    })

    it('asks for its own tenant only', async () => {
      for (const tenant of ['acme', 'bolt']) {
        await db.withSession(
          async (session) => void session.persist(Object.assign(new Order(), { id: 1, state: tenant })),
          { tenant },
        )
      }
      const session = db.session({ tenant: 'bolt' })
      expect((await session.query(Order).scan().toArray()).map(({ state }) => state)).to.deep.equal(['bolt'])
      expect(await session.query(Order).where({ state: 'acme' }).count()).to.equal(0)
      await session.close()
    })

    it('completes an entity that was loaded in part', async () => {
      await store(listing('a', { price: 7 }))
      const session = db.session()
      const part = await session.load(Listing, 'a', { only: ['city'] })
      expect(part.price).to.equal(undefined)
      expect((await session.query(Listing).where({ city: 'Bern' }).toArray())[0]).to.equal(part)
      expect(part.price).to.equal(7)
      await session.close()
    })

    it('shows a managed entity as the session knows it, also where the stored values are newer', async () => {
      await store(listing('a', { price: 1 }), listing('b', { price: 1, isNew: true }))
      const session = db.session()
      const a = await session.load(Listing, 'a')
      const b = await session.load(Listing, 'b', { only: ['price'] })
      await db.withSession(async (other) => {
        for (const each of await other.loadMany(Listing, ['a', 'b'])) [each.price, each.isNew] = [2, false]
      })
      const found = await session.query(Listing).where({ price: 2 }).toArray()
      expect(found).to.have.members([a, b])
      expect([a.price, a.isNew, session.isDirty(a)]).to.deep.equal([1, undefined, false])
      // Properties that were not loaded before are added; the others stay.
      expect([b.price, b.isNew, session.isDirty(b)]).to.deep.equal([1, false, false])
      expect(await session.query(Listing).where({ price: 1 }).toArray()).to.deep.equal([])
      expect(await session.query(Listing).where({ price: 2 }).sum('price')).to.equal(4)
      for (const each of [a, b]) {
        each.city = 'Thun'
        expect(await session.save(each).catch((e: unknown) => e)).to.have.property('name', 'VersionConflictError')
        await session.refresh(each)
        expect([each.price, each.city]).to.deep.equal([2, 'Bern'])
      }
      await session.close()
    })

    it('is refused in a transaction of its session', async function () {
      if (mode === 'ap') return this.skip()
      await store(listing('a', {}))
      await db.transaction(async (session) => {
        const error = await session
          .query(Listing)
          .scan()
          .count()
          .catch((e: unknown) => e)
        expect(error).to.have.property('code', 'SKEIN_2313')
        expect(await session.query(Listing, { outsideTransaction: true }).scan().count()).to.equal(1)
      })
    })

    it('ends when the session is closed', async () => {
      await store(listing('a', {}))
      const session = db.session()
      const query = session.query(Listing).scan()
      await session.close()
      expect(await query.count().catch((e: unknown) => e)).to.have.property('code', 'SKEIN_2301')
    })
  })
}
