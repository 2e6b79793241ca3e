import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { ALL, Agent, Call, Listing, Visit, make } from './copy-models.js'

const CHANGES: { readonly [title: string]: (session: Session) => Promise<unknown> } = {
  'a source changes': async (session) => {
    const ann = await session.load(Agent, 1)
    ann.name = 'Anna'
    await session.flush()
  },
  'a reference changes': async (session) => {
    const [listing, call] = [await session.load(Listing, 'a'), await session.load(Call, 'c')]
    listing.agent.set(2)
    call.to.set(2)
    await session.flush()
  },
}

for (const mode of MODES) {
  describe(`copies with a fault at each command (${mode})`, function () {
    this.timeout(60_000)
    const server = FaultyServer.use(mode, ALL)

    const prepare = async (db: Database): Promise<void> => {
      const session = db.session()
      await session.save(make(new Agent(), { id: 1, name: 'Ann' }))
      await session.save(make(new Agent(), { id: 2, name: 'Bob' }))
      for (const id of ['a', 'b']) session.create(Listing, { id, agent: 1 })
      session.create(Visit, { id: 'v', agent: 1 })
      session.create(Call, { id: 'c', to: 1 })
      await session.flush()
      await session.close()
    }
    const stale = async (db: Database, repair: boolean): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, message } of db.verify(ALL, { settle: 0, repair }))
        if (kind === 'staleCopy') found.push(message)
      return found
    }

    for (const [title, change] of Object.entries(CHANGES))
      it(`are right once the flush is repeated, or verify has repaired them, when ${title}`, async () => {
        let session: Session
        const work = (db: Database): Promise<unknown> => change((session = db.session()))
        const check = async (db: Database, error: unknown, where: string): Promise<void> => {
          if (where.includes('death')) await stale(db, true)
          else if (error !== undefined) await session.flush().catch(() => session.flush())
          expect(await stale(db, false), where).to.deep.equal([])
          for (const { agent, agentName } of await db.session().loadMany(Listing, ['a', 'b'], { with: ['agent'] }))
            expect(agentName, where).to.equal(agent.value?.name)
        }
        expect(await server.disturb({ prepare, work, check })).to.be.greaterThan(3)
      })
  })
}
