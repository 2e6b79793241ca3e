import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Agent, Listing, agent, listing } from '../models.js'

for (const mode of MODES) {
  describe(`a flush that failed in part, and a refresh (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Agent, Listing], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.persist(agent(1)).listings.add(listing('b'))
        session.persist(agent(2))
        session.persist(listing('a'))
        return Promise.resolve()
      })
    })

    /** Without a transaction, what came before what is missing has been written. */
    const failing = async (change: (alma: Agent) => void): Promise<[Session, Agent]> => {
      const session = db.session()
      const alma = await session.load(Agent, 1)
      change(alma)
      session.at(Agent, 2).collection('listings').add('missing')
      await session.flush().catch(() => undefined)
      await session.delete(Listing, 'missing')
      return [session, alma]
    }

    const expectAgreement = async (): Promise<void> => {
      const fresh = db.session()
      const agents = await fresh.loadMany(Agent, [1, 2])
      const listed = await Promise.all(
        agents.map(async ({ id, listings }) => [id, [...(await listings.keys())].sort()]),
      )
      const named = await fresh.loadMany(Listing, ['a', 'b'])
      const wanted = [1, 2].map((id) => [id, named.filter((each) => each.agent.key === id).map((each) => each.id)])
      expect(listed).to.deep.equal(wanted)
    }

    it('leave a child that was added by its key on the list of the parent it names', async () => {
      const [session, alma] = await failing(({ listings }) => listings.add('a'))
      await session.refresh(alma)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await expectAgreement()
    })

    it('do so when the child is loaded in between', async () => {
      const [session, alma] = await failing(({ listings }) => listings.add('a'))
      await session.refresh(alma)
      await session.load(Listing, 'a')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await expectAgreement()
    })

    it('take a child off the list of a parent it no longer names', async () => {
      const [session, alma] = await failing(({ listings }) => listings.remove('b'))
      await session.refresh(alma)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await expectAgreement()
    })

    it('let the change be undone', async () => {
      const [session, alma] = await failing(({ listings }) => {
        listings.add('a')
        listings.remove('b')
      })
      await session.load(Agent, 1, { with: ['listings'] })
      alma.listings.remove('a')
      alma.listings.add('b')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await expectAgreement()
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(null)
      expect((await db.session().load(Listing, 'b')).agent.key).to.equal(1)
    })

    it('let another parent take the child in', async () => {
      const [session, alma] = await failing(({ listings }) => listings.add('a'))
      const other = session.at(Agent, 2).collection('listings')
      other.add('a')
      await session.refresh(alma)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await expectAgreement()
      expect((await db.session().load(Listing, 'a')).agent.key).to.equal(2)
    })
  })
}
