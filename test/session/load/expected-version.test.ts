import { expect } from 'chai'
import { Bin, Key, Record, Version, VersionConflictError, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'expected-agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Version() version?: number
}

@Record({ set: 'expected-plain' })
class Plain {
  @Key() id!: number
  @Bin() name!: string
}

const codeOf = async (work: () => unknown): Promise<unknown> => ((await rejection(work)) as { code?: string }).code

for (const mode of MODES) {
  describe(`a version that a caller has seen (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Agent, Plain], (opened) => ({ db } = opened))
    beforeEach(async () => {
      const session = db.session()
      const agent = await session.save(Object.assign(new Agent(), { id: 1, name: 'Ada' }))
      agent.name = 'Alma'
      await session.save(agent)
      await session.save(Object.assign(new Plain(), { id: 1, name: 'Ada' }))
    })

    it('lets a load through when it is the stored one', async () => {
      expect((await db.session().load(Agent, 1, { version: 2 })).name).to.equal('Alma')
      expect((await db.session().find(Agent, 1, { version: 2 }))?.name).to.equal('Alma')
      expect(await db.session().find(Agent, 2, { version: 2 })).to.equal(null)
    })

    it('is a conflict in a load when another one is stored', async () => {
      expect(await rejection(() => db.session().load(Agent, 1, { version: 1 }))).to.be.instanceOf(VersionConflictError)
      expect(await rejection(() => db.session().find(Agent, 1, { version: 3 }))).to.be.instanceOf(VersionConflictError)
    })

    it('is compared by save before anything is sent', async () => {
      const session = db.session()
      const agent = await session.load(Agent, 1)
      agent.name = 'Ann'
      expect(await rejection(() => session.save(agent, { version: 1 }))).to.be.instanceOf(VersionConflictError)
      expect((await db.session().load(Agent, 1)).name).to.equal('Alma')
      await session.save(agent, { version: 2 })
      expect(agent.version).to.equal(3)
    })

    it('is refused as an assignment that differs from the loaded one', async () => {
      for (const send of [
        (session: ReturnType<Database['session']>) => session.flush(),
        (session: ReturnType<Database['session']>, agent: Agent) => session.save(agent),
        (session: ReturnType<Database['session']>, agent: Agent) => session.upsert(agent),
        (session: ReturnType<Database['session']>, agent: Agent) => session.delete(agent),
      ]) {
        for (const body of [{ version: 1 }, { version: 1, name: 'Ann' }]) {
          const session = db.session()
          const agent = Object.assign(await session.load(Agent, 1), body)
          expect(await codeOf(() => send(session, agent))).to.equal('SKEIN_2209')
          expect((await db.session().load(Agent, 1)).name).to.equal('Alma')
        }
      }
    })

    it('may be assigned as it is', async () => {
      const session = db.session()
      Object.assign(await session.load(Agent, 1), { version: 2, name: 'Ann' })
      await session.flush()
      expect((await db.session().load(Agent, 1)).version).to.equal(3)
    })

    it('is refused where there is none, and where it is not a number', async () => {
      expect(await codeOf(() => db.session().load(Plain, 1, { version: 1 }))).to.equal('SKEIN_2320')
      expect(await codeOf(() => db.session().load(Agent, 1, { version: '2' as never }))).to.equal('SKEIN_2320')
    })
  })
}
