import { expect } from 'chai'
import type { Database } from 'skein'
import type { EmbeddedServer, FaultOptions } from 'skein/embedded'
import { MODES, need } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { isByDate, isOnDemand, isSharded } from '../../property/in-companions.js'
import { Agent, ENDED, Office } from './ended-link-models.js'

const FORBIDDEN = 22

/** Agents keep their links apart from the start, or as soon as they have two. */
const isApart = isSharded || isOnDemand || isByDate

/** Sets of the records that keep the links. */
const SETS = [isApart ? 'eagent_offices' : 'eagent', isSharded || isByDate ? 'eoffice_agents' : 'eoffice']

for (const mode of MODES) {
  describe(`links that stay when they are ended, with faults (${mode})`, () => {
    let db: Database
    let embedded: EmbeddedServer | undefined
    let server: EmbeddedServer
    useDatabase(mode, ENDED, (opened) => {
      db = opened.db
      embedded = opened.server.embedded
    })
    beforeEach(async function () {
      server = need(this, embedded, 'faults need the embedded server')
      await db.withSession(async (session) => {
        const one = session.create(Agent, { id: 1 })
        for (const id of ['north', 'south']) one.offices.link(session.create(Office, { id }), { role: id, share: 1 })
      })
    })
    afterEach(() => server?.faults.clear())

    const agent = (): ReturnType<typeof ends> => ends(db, Agent, 1, 'offices', 'north')
    const office = (): ReturnType<typeof ends> => ends(db, Office, 'north', 'agents', 1)

    for (const set of SETS)
      for (const fault of [{ answer: FORBIDDEN }, { drop: true as const, after: true }])
        for (const work of ['unlink', 'restore', 'link'] as const)
          it(`${work} is the same at both ends once it is repeated, when a write to ${set} ${'drop' in fault ? 'has no answer' : 'fails'}`, async () => {
            if (work !== 'unlink')
              await db.withSession(async (session) => session.at(Agent, 1).collection('offices').unlink('north'))
            const session = db.session()
            const { offices } = await session.load(Agent, 1)
            if (work === 'unlink') offices.unlink('north')
            if (work === 'link') offices.link('north', { role: 'again' })
            if (work === 'restore') await offices.restore('north')
            const met = await server.faults.add({ kind: 'write', set, times: 1, ...fault })
            await session.flush().catch(() => undefined)
            expect(await met.hits()).to.be.greaterThan(0)
            await server.faults.clear()
            await session.flush()
            const [here, there] = [await agent(), await office()]
            expect(here).to.deep.equal(there)
            expect(here.isLinked).to.equal(work !== 'unlink')
            expect(here.role).to.equal(work === 'link' ? 'again' : 'north')
            expect(await findings(db)).to.deep.equal([])
            await session.close()
          })

    it('a process that dies between the two ends leaves what verify completes', async () => {
      for (const set of SETS) {
        await server.faults.add({ kind: 'write', set, answer: FORBIDDEN, times: 100 })
        const session = db.session()
        session.at(Agent, 1).collection('offices').unlink('north')
        await session.flush().catch(() => undefined)
        await server.faults.clear()
        await findings(db, true)
        expect(await findings(db)).to.deep.equal([])
        expect(await agent()).to.deep.equal(await office())
      }
    })

    it('are the same at both ends whoever ends them and makes them again at the same time', async () => {
      for (let round = 0; round < 24; round++) {
        for (let i = 0; i < 12; i++) await server.faults.add(slowly())
        const works = ['unlink', 'link', 'unlink'].map((work, i) =>
          db.withSession(async (session) => {
            const isHere = (round + i) % 2 === 0
            const { offices } = isHere ? await session.load(Agent, 1) : { offices: undefined }
            const { agents } = isHere ? { agents: undefined } : await session.load(Office, 'north')
            if (work === 'unlink') offices?.unlink('north')
            else offices?.link('north', { role: `r${round}` })
            if (work === 'unlink') agents?.unlink(1)
            else agents?.link(1, { role: `r${round}` })
          }),
        )
        for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason
        await server.faults.clear()
        expect(await agent(), `round ${round}`).to.deep.equal(await office())
        expect(await findings(db), `round ${round}`).to.deep.equal([])
      }
    })

    it('a purge that fails at the other end is completed by another one', async () => {
      await db.withSession(async (session) => session.at(Agent, 1).collection('offices').unlink('north'))
      const purge = (): Promise<number> =>
        db.purge(Agent, { olderThan: new Date(Date.now() + 10 * 86_400_000), links: 'offices' })
      await server.faults.add({ kind: 'write', set: SETS[1], answer: FORBIDDEN, times: 100 })
      await purge().then(
        () => expect.fail('the purge should fail'),
        () => undefined,
      )
      await server.faults.clear()
      await purge()
      expect([await agent(), await office()]).to.deep.equal([NONE, NONE])
      expect(await findings(db)).to.deep.equal([])
    })
  })
}

/** Makes one of the next commands come late, or its answer, so that others come between. */
const slowly = (): FaultOptions => ({
  skip: Math.floor(Math.random() * 40),
  delay: 1 + Math.floor(Math.random() * 12),
  after: Math.random() < 0.5,
})

const NONE = { isLinked: false, isEnded: false, role: undefined, leftAt: undefined }

/** Link as one end stores it. */
async function ends(
  db: Database,
  type: new () => object,
  id: string | number,
  property: string,
  member: string | number,
): Promise<{ isLinked: boolean; isEnded: boolean; role?: string; leftAt?: number }> {
  const session = db.session()
  const links = session.at(type as typeof Agent, id as number).collection(property as 'offices')
  const isLinked = await links.contains(member)
  const isEnded = (await links.keys({ deleted: 'only' })).includes(member as string)
  const post = await links.attributesOf(member, { deleted: 'include' })
  await session.close()
  return { isLinked, isEnded, role: post?.role, leftAt: post?.leftAt?.getTime() }
}

async function findings(db: Database, repair = false): Promise<string[]> {
  const found: string[] = []
  for await (const { message } of db.verify(ENDED, { settle: 0, repair })) found.push(message)
  return found
}
