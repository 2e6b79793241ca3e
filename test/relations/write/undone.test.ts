import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Agent, Listing, agent, listing } from '../models.js'

for (const mode of MODES) {
  describe(`a move that failed (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Agent, Listing], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.persist(agent(1))
        session.persist(agent(2))
        session.persist(listing('a'))
        return Promise.resolve()
      })
    })

    /** Another session gives the child to the first agent. */
    const meanwhile = async (): Promise<void> => {
      const session = db.session()
      session.at(Agent, 1).collection('listings').add('a')
      await session.flush()
    }

    const expectAgreement = async (session: Session): Promise<void> => {
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const { listings } = await db.session().load(Agent, 1)
      const child = await db.session().load(Listing, 'a')
      expect(await listings.keys()).to.deep.equal(child.agent.key === 1 ? ['a'] : [])
    }

    it('leaves the child on the list of the parent that it names', async () => {
      const session = db.session()
      const child = await session.load(Listing, 'a')
      child.agent.set(2)
      await meanwhile()
      await db.session().delete(Agent, 2)
      await session.flush().catch(() => undefined)
      await session.delete(Agent, 2)
      await expectAgreement(session)
    })

    it('does so where it was moved by its key, and that is given up', async () => {
      const session = db.session()
      const bert = await session.load(Agent, 2)
      bert.listings.add('a', 'missing')
      await meanwhile()
      await session.flush().catch(() => undefined)
      await session.delete(Listing, 'missing')
      await session.refresh(bert)
      await expectAgreement(session)
    })
  })
}
