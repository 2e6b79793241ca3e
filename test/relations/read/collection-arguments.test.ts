import { expect } from 'chai'
import { SkeinError, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'
import { Order, order, line } from '../strategies/consolidate/consolidate-models.js'
import { Company, Department, Employee } from '../cascade/departments.js'
import { Agent, Listing, agent, listing } from '../models.js'

const CLASSES = [Order, Company, Department, Employee, Agent, Listing]

for (const mode of MODES) {
  describe(`numbers that are given to collections (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        session.persist(order(1, line('a'), line('b')))
        session.persist(agent(1)).listings.add(listing('a'), listing('b'))
        const home = session.create(Department, { id: 1 })
        home.employees.add(session.create(Employee, { id: 'a' }))
      })
    })

    it('are whole, and counts not negative, in all collections alike; otherwise nothing is sent', async () => {
      const session = db.session()
      const { lines } = await session.load(Order, 1)
      const { listings } = await session.load(Agent, 1)
      const { employees } = await session.load(Department, 1)
      const wrong = [
        () => lines.first(-1),
        () => lines.first(1.5),
        () => lines.last(-1),
        () => lines.last(Number.NaN),
        () => lines.keys({ offset: -1, count: -1 }),
        () => lines.page({ count: '2' as unknown as number }),
        () => listings.keys({ offset: 1.5 }),
        () => listings.page({ offset: 0.5, count: 2 }),
        () => listings.page({ count: -2 }),
        () => employees.page({ count: -1 }),
        () => employees.page({ count: 0 }),
      ]
      const sent = await server.commands.during(async () => {
        for (const ask of wrong) {
          const error = (await rejection(ask)) as SkeinError
          expect(error, String(ask)).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2431')
          expect(error.message).to.match(/(Order\.lines|Agent\.listings|Department\.employees) .*whole number/)
          expect(error.details.className).to.be.a('string')
          expect(error.details.property).to.be.a('string')
        }
      })
      expect(sent.commands).to.equal(0)
    })

    it('may be 0 where members have numbers', async () => {
      const session = db.session()
      const { lines } = await session.load(Order, 1)
      const { listings } = await session.load(Agent, 1)
      expect([await lines.first(0), await lines.last(0), await lines.page({ count: 0 })]).to.deep.equal([[], [], []])
      expect(await listings.page({ count: 0 })).to.deep.equal([])
    })

    it('and what is not loaded are named by class and property in messages', async () => {
      const session = db.session()
      const { listings } = await session.load(Agent, 1)
      expect(() => listings.items).to.throw(SkeinError, 'The collection Agent.listings is not loaded.')
      const { agent: owner } = await session.load(Listing, 'a')
      const elsewhere = await db.session().load(Listing, 'a')
      expect(owner.isLoaded).to.equal(true)
      expect(() => elsewhere.agent.value).to.throw(SkeinError, 'The reference Listing.agent to 1 is not loaded.')
    })
  })
}
