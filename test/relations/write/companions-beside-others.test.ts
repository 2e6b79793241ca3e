import { expect } from 'chai'
import type { Database, Finding } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Agent, COMPANION_CLASSES, Listing, User, agent, listing, user } from './companion-models.js'

const ids = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

for (const mode of MODES) {
  describe(`companion records beside others (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    let namespace: string
    useDatabase(mode, COMPANION_CLASSES, (opened) => ({ db, namespace } = opened))

    const findings = async (): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(COMPANION_CLASSES, { settle: 0 })) found.push(finding)
      return found.map(({ message }) => message)
    }
    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length

    /** A flush that meets a transaction of another session, or a record that is gone, may fail; it is not tried again. */
    const attempt = (change: (session: ReturnType<Database['session']>) => void): Promise<unknown> => {
      const session = db.session()
      change(session)
      return session.flush().catch(() => undefined)
    }

    it('hold all that several sessions add and take out at once', async () => {
      await db.withSession((session) => {
        for (const id of ['ada', ...ids('u', 60)]) session.persist(user(id))
        session.persist(agent(1))
        for (const id of ids('l', 60)) session.persist(listing(id))
      })
      const flushed = (change: (session: ReturnType<Database['session']>) => void): Promise<void> =>
        db.withSession((session) => Promise.resolve(change(session)))
      // Each member is changed by one session alone, so that what is left is known.
      const follow = ids('u', 60).map(async (id, i) => {
        for (let tries = 0; ; tries++) {
          try {
            await flushed((session) => session.at(User, 'ada').collection('followers').add(id))
            if (i % 3 === 0) await flushed((session) => session.at(User, id).collection('follows').remove('ada'))
            return
          } catch (error) {
            if (tries === 20) throw error
          }
        }
      })
      const keep = ids('l', 60).map(async (id, i) => {
        await flushed((session) => session.at(Agent, 1).collection('kept').add(id))
        if (i % 3 === 0) await flushed((session) => session.at(Agent, 1).collection('kept').remove(id))
      })
      await Promise.all([...follow, ...keep])
      const rest = (prefix: string): string[] => ids(prefix, 60).filter((_, i) => i % 3 !== 0)
      expect(await db.session().at(User, 'ada').collection('followers').keys()).to.have.members(rest('u'))
      expect(await db.session().at(Agent, 1).collection('kept').keys()).to.have.members(rest('l'))
      expect(await findings()).to.deep.equal([])
    })

    it('go with an owner that is deleted while others add to it', async () => {
      for (let round = 0; round < 15; round++) {
        await db.withSession((session) => {
          session.persist(agent(round))
          session.persist(user(`star${round}`))
          for (const id of ids(`r${round}-`, 12)) session.persist(listing(id))
          for (const id of ids(`f${round}-`, 12)) session.persist(user(id))
        })
        const adds = ids(`r${round}-`, 12).map((id, i) =>
          attempt((session) =>
            session
              .at(Agent, round)
              .collection(i % 2 === 0 ? 'kept' : 'listings')
              .add(id),
          ),
        )
        const follows = ids(`f${round}-`, 12).map((id) =>
          attempt((session) => session.at(User, `star${round}`).collection('followers').add(id)),
        )
        const erase = async (Class: typeof Agent | typeof User, key: number | string): Promise<void> => {
          for (let tries = 0; ; tries++) {
            try {
              await db.session().delete(Class as typeof Agent, key as number)
              return
            } catch (error) {
              if (tries === 20) throw error
            }
          }
        }
        const deletes = [erase(Agent, round), erase(User, `star${round}`)]
        await Promise.all([...adds, ...follows, ...deletes])
        await Promise.all([erase(Agent, round), erase(User, `star${round}`)])
      }
      expect(await findings()).to.deep.equal([])
      expect([await recordsOf('cagent_kept'), await recordsOf('cagent_listings')]).to.deep.equal([0, 0])
      expect(await recordsOf('cuser_followers')).to.equal(0)
      for await (const each of db.query(Listing).scan()) expect(each.agent.key).to.equal(null)
    })
  })
}
