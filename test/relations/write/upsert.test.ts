import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, open, ref } from 'skein'
import type { Database } from 'skein'
import { need, startTestServer, type TestServer } from '../../server.js'
import { emptySets } from '../../empty-sets.js'

@Record({ set: 'up-agent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @ManyToMany(() => Club, 'members', { owner: true }) clubs = collection<Club>()
  @OneToOne(() => Desk, 'agent', { owner: true }) desk = ref<Desk>()
}

@Record({ set: 'up-listing' })
class Listing {
  @Key() id!: string
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @ManyToOne(() => Club) sponsor = ref<Club>()
}

@Embeddable()
class Dues {
  @Key() year!: number
}

@Record({ set: 'up-club' })
class Club {
  @Key() id!: string
  @ManyToMany(() => Agent, 'clubs') members = collection<Agent>()
  @OneToMany(() => Dues, { strategy: 'consolidate' }) dues = collection<Dues>()
}

@Record({ set: 'up-desk' })
class Desk {
  @Key() id!: number
  @OneToOne(() => Agent, 'desk') agent = ref<Agent>()
}

const CLASSES = [Agent, Listing, Club, Desk]

for (const mode of ['ap', 'sc'] as const) {
  describe(`upsert of entities with relations (${mode})`, () => {
    let server: TestServer
    let db: Database
    before(async function () {
      server = await startTestServer()
      const namespace = need(this, server[mode], `no ${mode} namespace`)
      db = await open({ hosts: server.hosts, namespace, entities: CLASSES })
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })
    beforeEach(async () => {
      await emptySets(db, CLASSES)
      await db.withSession(async (session) => {
        const [one] = [1, 2].map((id) => session.create(Agent, { id, name: `agent ${id}` }))
        for (const id of ['a', 'b']) one.listings.add(session.create(Listing, { id, city: 'Lund' }))
        one.clubs.add(session.create(Club, { id: 'chess' }))
        one.desk.set(session.create(Desk, { id: 7 }))
        session.create(Desk, { id: 8 })
        session.create(Club, { id: 'golf' })
      })
    })
    // Both sides of everything agree, whatever was done.
    afterEach(async () => {
      for await (const finding of db.verify(CLASSES, { settle: 0 })) expect.fail(finding.message)
    })

    const upsert = (entity: object) => db.session().upsert(entity)
    const listings = (agent: number) => db.session().at(Agent, agent).collection('listings').keys()

    it('stores what is new, as save does', async () => {
      const listing = Object.assign(new Listing(), { id: 'n', city: 'Oslo' })
      listing.agent.set(2)
      listing.sponsor.set('golf')
      await upsert(listing)
      expect(await listings(2)).to.deep.equal(['n'])
      const agent = Object.assign(new Agent(), { id: 3 })
      agent.listings.add('a')
      agent.clubs.add('golf')
      agent.desk.set(8)
      await upsert(agent)
      expect([await listings(1), await listings(3)]).to.deep.equal([['b'], ['a']])
      expect((await db.session().load(Desk, 8)).agent.key).to.equal(3)
      expect(await db.session().at(Club, 'golf').collection('members').keys()).to.deep.equal([3])
    })

    it('moves a child that is stored under another parent', async () => {
      const listing = Object.assign(new Listing(), { id: 'a' })
      listing.agent.set(2)
      await upsert(listing)
      expect([await listings(1), await listings(2)]).to.deep.equal([['b'], ['a']])
      const now = await db.session().load(Listing, 'a')
      expect([now.city, now.agent.key]).to.deep.equal([undefined, 2])
    })

    it('takes a child out of the list where the new one has no parent', async () => {
      await upsert(Object.assign(new Listing(), { id: 'a', city: 'Bern' }))
      expect(await listings(1)).to.deep.equal(['b'])
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(null)
    })

    it('leaves lists as they are, and adds what is added', async () => {
      const agent = Object.assign(new Agent(), { id: 1, name: 'new' })
      agent.clubs.add('golf')
      agent.desk.set(7)
      await upsert(agent)
      const now = await db.session().load(Agent, 1, { with: ['listings', 'clubs'] })
      expect(now.name).to.equal('new')
      expect(now.listings.items.map(({ id }) => id)).to.deep.equal(['a', 'b'])
      expect(now.clubs.items.map(({ id }) => id)).to.deep.equal(['chess', 'golf'])
      expect(now.desk.key).to.equal(7)
    })

    it('carries out removals that were made before a session had the entity', async () => {
      const [read] = await db.read(Agent, [1])
      read!.listings.remove('a')
      const [child] = await db.read(Listing, ['b'])
      read!.listings.remove(child!)
      await upsert(read!)
      expect(await listings(1)).to.deep.equal([])
      const children = await db.session().loadMany(Listing, ['a', 'b'])
      expect(children.map(({ agent, city }) => [agent.key, city])).to.deep.equal([
        [null, 'Lund'],
        [null, 'Lund'],
      ])
      const made = Object.assign(new Agent(), { id: 1 })
      made.clubs.remove('chess')
      await upsert(made)
      expect(await db.session().at(Club, 'chess').collection('members').keys()).to.deep.equal([])
    })

    it('carries out removals of an entity that another session has detached', async () => {
      const first = db.session()
      const agent = await first.load(Agent, 1, { with: ['listings', 'clubs'] })
      first.clear()
      agent.listings.remove(agent.listings.items[0])
      agent.clubs.remove(agent.clubs.items[0])
      await upsert(agent)
      const now = await db.session().load(Agent, 1, { with: ['listings', 'clubs'] })
      expect(now.listings.items.map(({ id }) => id)).to.deep.equal(['b'])
      expect(now.clubs.items).to.deep.equal([])
    })

    it('drops removals that are followed by an addition', async () => {
      const made = Object.assign(new Agent(), { id: 1 })
      made.clubs.remove('chess')
      made.clubs.add('chess')
      made.listings.add('a')
      made.listings.remove('a')
      await upsert(made)
      const now = await db.session().load(Agent, 1, { with: ['listings', 'clubs'] })
      expect(now.clubs.items.map(({ id }) => id)).to.deep.equal(['chess'])
      expect(now.listings.items.map(({ id }) => id)).to.deep.equal(['b'])
    })

    it('removes nothing from a record that a removal did not create', async () => {
      const made = Object.assign(new Agent(), { id: 9 })
      made.listings.remove('a')
      made.clubs.remove('chess')
      await upsert(made)
      expect([await listings(1), await listings(9)]).to.deep.equal([['a', 'b'], []])
      const session = db.session()
      const again = Object.assign(new Agent(), { id: 10 })
      again.listings.remove('a')
      await session.save(again)
      expect(session.isDirty()).to.equal(false)
    })

    it('separates an entity from its partner where the new one has another or none', async () => {
      const agent = Object.assign(new Agent(), { id: 1 })
      agent.desk.set(8)
      await upsert(agent)
      const desks = await db.session().loadMany(Desk, [7, 8])
      expect(desks.map((desk) => desk.agent.key)).to.deep.equal([null, 1])
      await upsert(Object.assign(new Agent(), { id: 1 }))
      expect((await db.session().load(Desk, 8)).agent.key).to.equal(null)
      await upsert(Object.assign(new Desk(), { id: 7 }))
    })

    it('stores again what was deleted elsewhere, with what it points to', async () => {
      const session = db.session()
      const [listing, agent] = [await session.load(Listing, 'a'), await session.load(Agent, 1)]
      await db.session().delete(Listing, 'a')
      expect(await listings(1)).to.deep.equal(['b'])
      await session.upsert(listing)
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(1)
      expect(await listings(1)).to.deep.equal(['a', 'b'])
      agent.name = 'again'
      await session.upsert(agent)
      expect((await db.session().load(Agent, 1)).desk.key).to.equal(7)
    })

    it('may be done again and again', async () => {
      for (const id of [1, 2, 1]) {
        const listing = Object.assign(new Listing(), { id: 'x' })
        listing.agent.set(id)
        await upsert(listing)
        await upsert(Object.assign(new Club(), { id: 'golf' }))
      }
      expect([await listings(1), await listings(2)]).to.deep.equal([['a', 'b', 'x'], []])
    })

    if (mode === 'ap') return
    it('takes part in a transaction', async () => {
      await db.transaction(async (session) => {
        const listing = Object.assign(new Listing(), { id: 'a' })
        listing.agent.set(2)
        await session.upsert(listing)
        await session.upsert(Object.assign(new Agent(), { id: 1 }))
      })
      expect([await listings(1), await listings(2)]).to.deep.equal([['b'], ['a']])
      expect((await db.session().load(Desk, 7)).agent.key).to.equal(null)
    })

    it('carries out removals in a transaction', async () => {
      const [agent] = await db.read(Agent, [1])
      agent!.listings.remove('a')
      agent!.clubs.remove('chess')
      await db.transaction((session) => session.upsert(agent!))
      expect(await listings(1)).to.deep.equal(['b'])
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(null)
    })
  })
}
