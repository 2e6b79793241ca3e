import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'

for (const mode of MODES) {
  describe(`relations by key list (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Agent, Listing, User], (opened) => ({ db } = opened))

    it('saves new children with their parent, both sides in step', async () => {
      const session = db.session()
      const alma = agent(1)
      alma.listings.add(listing('a'), listing('b'))
      session.persist(alma)
      await session.save(alma)
      expect(session.isDirty()).to.equal(false)

      const other = db.session()
      const found = await other.load(Agent, 1, { with: ['listings'] })
      expect(found.listings.items.map(({ id }) => id)).to.deep.equal(['a', 'b'])
      const child = await other.load(Listing, 'a')
      expect(child.agent.value).to.equal(found)
    })

    it('shows what was saved without loading it again', async () => {
      const session = db.session()
      const alma = agent(1)
      const [a, b] = [listing('a'), listing('b')]
      alma.listings.add(a, b)
      await session.save(alma)
      expect(alma.listings.items).to.deep.equal([a, b])
      expect(a.agent.value).to.equal(alma)
    })

    it('stores the relations of a deleted entity again when it is saved again', async () => {
      const session = db.session()
      const alma = agent(1)
      const home = listing('a')
      alma.listings.add(home)
      await session.save(alma)
      await session.delete(home)
      home.agent.set(alma)
      await session.save(home)
      const found = await db.session().load(Agent, 1, { with: ['listings'] })
      expect(found.listings.items.map(({ id }) => id)).to.deep.equal(['a'])
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(1)
    })

    it('moves a child', async () => {
      const session = db.session()
      const [a, b, child] = [agent(1), agent(2), listing('x')]
      a.listings.add(child)
      session.persist(a)
      session.persist(b)
      await session.flush()
      const other = db.session()
      const moved = await other.load(Listing, 'x')
      moved.agent.set(2)
      await other.save(moved)
      const check = db.session()
      const [from, to] = await check.loadMany(Agent, [1, 2], { with: ['listings'] })
      expect(from.listings.items).to.have.length(0)
      expect(to.listings.items.map(({ id }) => id)).to.deep.equal(['x'])
      expect(await to.listings.contains('x')).to.equal(true)
      expect(await to.listings.count()).to.equal(1)
    })

    it('takes a child that is moved by its key off the list of a parent whose key is 0', async () => {
      const session = db.session()
      const [none, one] = [agent(0), agent(1)]
      none.listings.add(listing('x'))
      session.persist(none)
      session.persist(one)
      await session.flush()
      const other = db.session()
      const to = await other.load(Agent, 1)
      to.listings.add('x')
      await other.save(to)
      expect(await (await db.session().load(Agent, 0)).listings.keys()).to.deep.equal([])
    })

    it('adds and removes on a collection that was never loaded', async () => {
      const session = db.session()
      session.persist(agent(1))
      session.persist(listing('x'))
      await session.flush()
      const other = db.session()
      const a = await other.load(Agent, 1)
      a.listings.add('x')
      expect(await a.listings.contains('x')).to.equal(true)
      await other.flush()
      const x = await db.session().load(Listing, 'x')
      expect(x.agent.key).to.equal(1)
      a.listings.remove('x')
      await other.flush()
      expect((await db.session().load(Listing, 'x')).agent.key).to.equal(null)
      expect(await a.listings.count()).to.equal(0)
    })

    it('deletes children with their parent', async () => {
      const session = db.session()
      const a = agent(1)
      a.listings.add(listing('a'), listing('b'))
      await session.save(a)
      await db.session().delete(Agent, 1)
      expect(await db.session().findMany(Listing, ['a', 'b'])).to.deep.equal([null, null])
      expect(await db.session().find(Agent, 1)).to.equal(null)
    })

    it('takes a deleted child out of its parent', async () => {
      const session = db.session()
      const a = agent(1)
      a.listings.add(listing('a'), listing('b'))
      await session.save(a)
      await db.session().delete(Listing, 'a')
      const found = await db.session().load(Agent, 1, { with: ['listings'] })
      expect(found.listings.items.map(({ id }) => id)).to.deep.equal(['b'])
      expect(await found.listings.keys()).to.deep.equal(['b'])
    })

    it('follows and unfollows', async () => {
      const session = db.session()
      const [a, b] = [user(1), user(2)]
      a.follows.add(b)
      await session.save(a)
      const other = db.session()
      const again = await other.load(User, 2, { with: ['followers'] })
      expect(again.followers.items.map(({ id }) => id)).to.deep.equal([1])
      again.followers.remove(1)
      await other.flush()
      const check = await db.session().load(User, 1, { with: ['follows'] })
      expect(check.follows.items).to.have.length(0)
      await db.session().delete(User, 1)
    })
  })
}
