import { expect } from 'chai'
import {
  Bin,
  EntityGoneError,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  SkeinError,
  collection,
  ref,
  type Database,
  type RelationPath,
} from 'skein'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { emptySets } from '../../empty-sets.js'
import type { TestServer } from '../../server.js'
import { sharedServer } from '../../shared-server.js'

@Record({ set: 'office' })
class Office {
  @Key() id!: number
  @OneToMany(() => Agent, 'office', { eager: true }) agents = collection<Agent>()
}

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @ManyToMany(() => Agent, 'friends') friends = collection<Agent>()
  @ManyToOne(() => Office, 'agents', { eager: true }) office = ref<Office>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id!: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @OneToMany(() => Review, 'listing') reviews = collection<Review>()
}

@Record({ set: 'review' })
class Review {
  @Key() id!: string
  @ManyToOne(() => Listing, 'reviews') listing = ref<Listing>()
}

const CLASSES = [Office, Agent, Listing, Review]

describe('loading relations along', () => {
  let server: TestServer
  let db: Database
  before(async () => {
    server = await sharedServer()
    db = await server.open({ namespace: server.ap ?? server.namespaces[0], entities: CLASSES })
    await emptySets(db, CLASSES)
    await db.withSession(async (session) => {
      const office = session.create(Office, { id: 1 })
      for (let a = 1; a <= 20; a++) {
        const agent = session.create(Agent, { id: a, name: `agent ${a}` })
        if (a <= 3) agent.office.set(office)
        for (let l = 0; l < 4; l++) {
          const listing = Object.assign(new Listing(), { id: `${a}-${l}` })
          agent.listings.add(listing)
          for (let r = 0; r < 2; r++) listing.reviews.add(Object.assign(new Review(), { id: `${a}-${l}-${r}` }))
        }
      }
    })
  })
  after(() => db?.close())

  const during: TestServer['commands']['during'] = (work) => server.commands.during(work)

  it('is one batch read for each level, whatever the width', async () => {
    const ids = Array.from({ length: 17 }, (_, i) => i + 4)
    let agents!: Agent[]
    const seen = await during(async () => {
      agents = await db.session().loadMany(Agent, ids, { with: ['listings.reviews', 'friends.listings'] })
    })
    expect(seen).to.deep.include({ commands: 3, rows: 17 + 17 * 4 + 17 * 8 })
    expect(agents.flatMap(({ listings }) => listings.items.flatMap(({ reviews }) => reviews.items))).to.have.length(136)
  })

  it('reads what several lead to once', async () => {
    const session = db.session()
    const ids = ['4-0', '4-1', '4-2', '5-0']
    const seen = await during(() => session.loadMany(Listing, ids, { with: ['agent'] }))
    expect(seen).to.deep.include({ commands: 2, rows: 4 + 2 })
  })

  it('follows what is eager at every level, and ends where it comes back to itself', async () => {
    let listing!: Listing
    const seen = await during(async () => {
      listing = await db.session().load(Listing, '1-0', { with: ['agent'] })
    })
    const office = listing.agent.value!.office.value!
    expect(office.agents.items.map(({ id }) => id)).to.deep.equal([1, 2, 3])
    for (const agent of office.agents) expect(agent.office.value).to.equal(office)
    // listing, agent, office, the other agents
    expect(seen.commands).to.equal(4)
  })

  it('follows what is eager also from a lazy load and from a page', async () => {
    const listing = await db.session().load(Listing, '2-0')
    const agent = await listing.agent.load()
    expect(agent!.office.value!.agents.isLoaded).to.equal(true)
    const [first] = await (await db.session().load(Office, 1)).agents.page({ count: 1 })
    expect(first.office.isLoaded).to.equal(true)
  })

  it('loads collections that are asked for in one tick together: one batch of lists, one of members', async () => {
    const agents = await db.session().loadMany(Agent, [4, 5, 6, 7])
    const two = await during(() => Promise.all(agents.slice(0, 2).map(({ listings }) => listings.load())))
    expectRoundTrips(two.commands, 2)
    expect(two.rows).to.equal(2 + 2 * 4)
    const others = agents.slice(2)
    const both = await during(() =>
      Promise.all(others.flatMap(({ listings, friends }) => [listings.load(), friends.load()])),
    )
    expectRoundTrips(both.commands, 2)
    for (const { listings } of agents) expect(listings.items).to.have.length(4)
  })

  it('reads a collection once when it is asked for twice in one tick', async () => {
    const agent = await db.session().load(Agent, 4)
    const seen = await during(() => Promise.all([agent.listings.load(), agent.listings.load()]))
    // Its list, then its four members.
    expect(seen).to.include({ commands: 2, rows: 5 })
  })

  it('answers what is asked of collections in one tick by one batch', async () => {
    const [one, two] = await db.session().loadMany(Agent, [1, 2])
    const seen = await during(async () => {
      const asked = [one.listings.count(), two.listings.keys(), one.listings.contains('1-0')]
      expect(await Promise.all(asked)).to.deep.equal([4, ['2-0', '2-1', '2-2', '2-3'], true])
    })
    expect(seen).to.include({ commands: 1, rows: 3 })
  })

  it('refuses a path that leads nowhere before it reads anything, and says what there is', async () => {
    const wrong = ['listings.agnet'] as unknown as RelationPath<Agent>[]
    let error: unknown
    const seen = await during(async () => {
      error = await db
        .session()
        .find(Agent, 99, { with: wrong })
        .catch((reason: unknown) => reason)
    })
    expect(seen.commands).to.equal(0)
    expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2312')
    expect(String(error)).to.match(/Listing has no relation 'agnet' to load.*agent, reviews/)
  })

  it('keeps Ref and Collection the same objects when an entity is completed or refreshed', async () => {
    const session = db.session()
    const agent = await session.load(Agent, 1, { only: ['name'] })
    const { listings, office } = agent
    expect(await listings.count()).to.equal(4)
    await session.load(Agent, 1)
    expect([agent.listings, agent.office]).to.deep.equal([listings, office])
    expect(agent.listings === listings && agent.office === office).to.equal(true)
    expect(office.key).to.equal(1)
    await session.refresh(agent)
    expect(agent.listings === listings && agent.office === office).to.equal(true)
    expect(await listings.count()).to.equal(4)
  })

  describe('a collection of an entity that is not loaded', () => {
    it('is asked without loading the entity', async () => {
      const session = db.session()
      let count = 0
      const seen = await during(async () => (count = await session.at(Agent, 7).collection('listings').count()))
      expect(count).to.equal(4)
      expect(seen).to.deep.include({ commands: 1, rows: 1 })
      expect(session.isDirty()).to.equal(false)
    })

    it('takes changes, and the entity can be loaded and saved afterwards', async () => {
      const session = db.session()
      const listings = session.at(Agent, 8).collection('listings')
      listings.add(Object.assign(new Listing(), { id: '8-new' }))
      const seen = await during(() => session.flush())
      expect(seen.rows).to.equal(2)
      const agent = await session.load(Agent, 8, { with: ['listings'] })
      expect(agent.listings === listings).to.equal(true)
      expect(agent.name).to.equal('agent 8')
      expect(agent.listings.items).to.have.length(5)
      agent.name = 'changed'
      await session.flush()
      expect((await db.session().load(Agent, 8)).name).to.equal('changed')
    })

    it('of an entity that does not exist takes nothing, and leaves nothing behind', async () => {
      const session = db.session()
      session.at(Agent, 99).collection('listings').add('9-0')
      const error = await session.flush().catch((reason: unknown) => reason)
      expect(error).to.have.property('cause').that.is.instanceOf(EntityGoneError)
      expect(await db.session().find(Agent, 99)).to.equal(null)
      // Back where it was.
      expect((await db.session().load(Listing, '9-0')).agent.key).to.equal(9)
      expect(await db.session().at(Agent, 9).collection('listings').contains('9-0')).to.equal(true)
    })

    it('must be one that the class has', () => {
      expect(() =>
        db
          .session()
          .at(Agent, 1)
          .collection('office' as 'listings'),
      )
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2312')
    })
  })
})
