import { expect } from 'chai'
import type { Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { emptySets } from '../../empty-sets.js'
import { need } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'

describe('what changes of relations cost', function () {
  this.timeout(120_000)
  let server: EmbeddedServer
  let db: Database
  before(async function () {
    const shared = await sharedServer()
    server = need(this, shared.embedded, 'only the embedded server counts bytes and holds writes back')
    db = await shared.open({ namespace: shared.ap!, entities: [Agent, Listing, User] })
    await emptySets(db, [Agent, Listing, User])
  })
  after(() => db?.close())

  /** A parent with so many children; only their keys matter. */
  const fill = async (id: number, count: number): Promise<void> => {
    await db.session().save(agent(id))
    for (let first = 0; first < count; first += 1_000) {
      await db.withSession(async (session) => {
        const { listings } = await session.load(Agent, id)
        for (let i = first; i < Math.min(first + 1_000, count); i++) listings.add(listing(`${id}-${i}`))
      })
    }
  }

  it('adding one child sends as much to a parent of 10,000 as to one of 10', async () => {
    await fill(10, 10)
    await fill(11, 10_000)
    const costs = []
    for (const id of [10, 11]) {
      const session = db.session()
      const parent = await session.load(Agent, id)
      parent.listings.add(listing(`new-${id}`))
      costs.push(await server.commands.during(() => session.flush()))
    }
    const [small, large] = costs
    expect([small.rows, large.rows]).to.deep.equal([2, 2])
    expect(large.bytesIn).to.equal(small.bytesIn)
    expect(large.bytesOut).to.equal(small.bytesOut)
  })

  it('questions to a collection of 10,000 are one command each and do not send it', async () => {
    const { listings } = await db.session().load(Agent, 11)
    for (const ask of [() => listings.count(), () => listings.contains('11-5')]) {
      const { commands, rows, bytesOut } = await server.commands.during(ask)
      expect([commands, rows]).to.deep.equal([1, 1])
      expect(bytesOut).to.be.below(200)
    }
    const page = await server.commands.during(() => listings.page({ offset: 5_000, count: 3 }))
    expect([page.commands, page.rows]).to.deep.equal([2, 4])
  })

  it('a move is one write of the child, one of each list, and one check', async () => {
    const session = db.session()
    const child = await session.load(Listing, '10-1')
    child.agent.set(11)
    const { rows } = await server.commands.during(() => session.flush())
    expect(rows).to.equal(4)
  })

  it('a link of two unloaded users is one round trip of two rows, and one that reads both again', async () => {
    await db.withSession(async (session) => [1, 2].forEach((id) => session.persist(user(id))))
    const session = db.session()
    session.at(User, 1).collection('follows').add(2)
    const { commands, rows } = await server.commands.during(() => session.flush())
    expectRoundTrips(commands, 2)
    expect(rows).to.equal(4)
  })

  it('two sessions that move one child at the same time leave it in exactly one list', async () => {
    for (let round = 0; round < 10; round++) {
      const ids = [1, 2, 3].map((each) => 1_000 + round * 10 + each)
      await db.withSession(async (session) => {
        for (const id of ids) session.persist(agent(id))
        session.persist(listing(`c${round}`)).agent.set(ids[0])
      })
      const sessions = [db.session(), db.session()]
      const children = await Promise.all(sessions.map((session) => session.load(Listing, `c${round}`)))
      children.forEach((child, i) => child.agent.set(ids[i + 1]))
      // Whichever write is held back, the other session goes through in between.
      await server.faults.add({ kind: 'write', set: round % 2 === 0 ? 'agent' : 'listing', delay: 20 + round })
      await Promise.all(sessions.map((session) => session.flush()))
      await server.faults.clear()
      const check = db.session()
      const holders = []
      for (const id of ids) if (await check.at(Agent, id).collection('listings').contains(`c${round}`)) holders.push(id)
      expect(holders).to.deep.equal([(await check.load(Listing, `c${round}`)).agent.key])
    }
  })
})
