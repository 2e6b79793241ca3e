import { expect } from 'chai'
import Aerospike from 'aerospike'
import { SkeinError, VersionConflictError, type CopyProgress, type Database } from 'skein'
import { commandWords } from '../../command-words.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ALL, Agent, Call, Listing, Visit, make } from './copy-models.js'
import { rejection } from '../rejection.js'

for (const mode of MODES) {
  describe(`copies (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, ALL, (opened) => ({ db, server, namespace } = opened))

    const agent = (id: number, name: string): Agent =>
      make(new Agent(), { id, name, score: 2, since: new Date(id), phone: `0${id}` })
    const store = (...entities: object[]): Promise<void> =>
      db.withSession((session) => entities.forEach((each) => void session.persist(each)))
    /** Agents 1 and 2; listings a, b, visit v and call c of the first. */
    const world = async (): Promise<void> => {
      const first = agent(1, 'Ann')
      await store(first, agent(2, 'Bob'))
      await db.withSession((session) => {
        for (const id of ['a', 'b']) session.create(Listing, { id, agent: 1 })
        session.create(Visit, { id: 'v', agent: 1 })
        session.create(Call, { id: 'c', to: 1 })
      })
    }
    const stored = (set: string, key: string): Promise<Record<string, unknown>> =>
      db.client.get(new Aerospike.Key(namespace, set, key)).then(({ bins }) => bins)
    const names = async (): Promise<unknown[]> => {
      const session = db.session()
      const listings = await session.findMany(Listing, ['a', 'b'])
      const [visit, call] = [await session.find(Visit, 'v'), await session.find(Call, 'c')]
      return [...listings.map((each) => each?.agentName), visit?.guide, call?.toName]
    }
    const stale = async (repair = false): Promise<string[]> => {
      const found: string[] = []
      for await (const finding of db.verify([Agent, Listing, Visit, Call], { settle: 0, repair }))
        found.push(`${finding.kind} ${finding.className}.${finding.property} ${String(finding.key)} ${finding.state}`)
      return found.sort()
    }

    it('are announced by explain, because their records are found when it is sent', async () => {
      await world()
      const session = db.session()
      const first = await session.load(Agent, 1)
      first.phone = '99'
      expect(String(await session.explain())).not.to.include('copies')
      first.name = 'Anna'
      session.create(Listing, { id: 'd', agent: 2 })
      const text = String(await session.explain())
      const lines = text.slice(text.indexOf('copies')).split('\n')
      expect(lines.slice(1).sort()).to.deep.equal([
        '  after a read: read Agent cp_agent/1: write its copies in each Call whose to leads to it (toName)',
        '  after a read: read Agent cp_agent/1: write its copies in each Listing whose agent leads to it (agentName)',
        '  after a read: read Agent cp_agent/1: write its copies in each Visit whose agent leads to it (guide)',
        '  after a read: read the Agent of Listing cp_listing/"d" again: if it was changed meanwhile, write agentName, agentScore once more',
      ])
      await session.flush()
      expect(await names()).to.deep.equal(['Anna', 'Anna', 'Anna', 'Anna'])
      expect(String(await session.explain())).to.equal('Nothing to do: no command would be sent.')
    })

    it('are written with the reference, whether its entity is new, loaded or named by its key', async () => {
      const ann = agent(1, 'Ann')
      const a = make(new Listing(), { id: 'a' })
      a.agent.set(ann)
      await store(a)
      expect(a).to.deep.include({ agentName: 'Ann', agentScore: 2, agentSince: new Date(1), agentPhone: '01' })
      await store(agent(2, 'Bob'))
      const session = db.session()
      const b = session.create(Listing, { id: 'b', agent: await session.load(Agent, 2) })
      await session.flush()
      expect(b.agentName).to.equal('Bob')
      await db.withSession((other) => void other.create(Listing, { id: 'c', agent: 2 }))
      expect(await stored('cp_listing', 'c')).to.include({
        agentName: 'Bob',
        agScore: 2,
        agentSince: 2,
        agentPhone: '02',
      })
      expect(await db.session().load(Listing, 'a')).to.include({ agentName: 'Ann' })
      expect(await stale()).to.deep.equal([])
    })

    it('move with the reference, and go with it', async () => {
      await world()
      const session = db.session()
      const a = await session.load(Listing, 'a')
      a.agent.set(2)
      expect(a.agentName).to.equal('Ann')
      await session.save(a)
      expect(a.agentName).to.equal('Bob')
      expect(await stored('cp_listing', 'a')).to.include({ agent: 2, agentName: 'Bob', agentPhone: '02' })
      a.agent.set(null)
      await session.save(a)
      expect(a).to.include({ agentName: undefined, agentScore: undefined })
      expect(await stored('cp_listing', 'a')).to.have.all.keys('id')
    })

    for (const how of ['by key', 'by entity', 'by the collection'] as const)
      for (const isNew of [true, false])
        it(`show what the flush that sets ${isNew ? 'a new' : 'the'} reference ${how} makes of the source, whenever they are refreshed`, async () => {
          await world()
          const session = db.session()
          const bob = await session.load(Agent, 2)
          const listing = isNew ? session.create(Listing, { id: 'n' }) : await session.load(Listing, 'a')
          Object.assign(bob, { name: 'Rob', phone: '77' })
          if (how === 'by the collection') bob.listings.add(listing)
          else listing.agent.set(how === 'by key' ? 2 : bob)
          await session.flush()
          expect(listing).to.include({ agentName: 'Rob', agentPhone: '77' })
          expect(await stored('cp_listing', listing.id)).to.include({ agentName: 'Rob', agentPhone: '77' })
          expect(session.isDirty()).to.equal(false)
          expect(await stale()).to.deep.equal([])
        })

    it('follow the collection of their source, too, and its delete', async () => {
      await world()
      const session = db.session()
      const bob = await session.load(Agent, 2)
      bob.listings.add('a')
      bob.visits.add('v')
      await session.flush()
      expect(await names()).to.deep.equal(['Bob', 'Ann', 'Bob', 'Ann'])
      await session.delete(Agent, 1)
      expect(await names()).to.deep.equal(['Bob', undefined, 'Bob', 'Ann'])
      await session.delete(bob)
      expect(await names()).to.deep.equal([undefined, undefined, undefined, 'Ann'])
    })

    it('follow a changed source in the same flush, by list and by index, also in the session', async () => {
      await world()
      const session = db.session()
      const [ann, a] = [await session.load(Agent, 1), await session.load(Listing, 'a')]
      Object.assign(ann, { name: 'Anna', phone: '99', score: 3.5 })
      await session.save(ann)
      expect(await names()).to.deep.equal(['Anna', 'Anna', 'Anna', 'Anna'])
      expect(a).to.include({ agentName: 'Anna', agentScore: 3.5, agentPhone: '01' })
      expect(session.isDirty()).to.equal(false)
      expect(await stored('cp_listing', 'b')).to.include({ agScore: 3.5, agentPhone: '01' })
      ann.name = undefined
      await session.save(ann)
      expect(await names()).to.deep.equal([undefined, undefined, undefined, undefined])
      expect(await stale()).to.deep.equal([
        'staleCopy Listing.agentPhone a found',
        'staleCopy Listing.agentPhone b found',
      ])
    })

    it('follow upserts, bulk updates and sources that change together with the reference', async () => {
      await world()
      await db.session().upsert(agent(1, 'Una'))
      expect(await names()).to.deep.equal(['Una', 'Una', 'Una', 'Una'])
      await db.scan(Agent).update({ name: 'All' })
      expect(await names()).to.deep.equal(['All', 'All', 'All', 'All'])
      const session = db.session()
      const [bob, a] = [await session.load(Agent, 2), await session.load(Listing, 'a')]
      bob.name = 'Rob'
      a.agent.set(bob)
      await session.flush()
      expect(a.agentName).to.equal('Rob')
      expect(await names()).to.deep.equal(['Rob', 'All', 'All', 'All'])
    })

    it('are what is stored when the reference alone is saved and its source has unsent changes', async () => {
      await world()
      const session = db.session()
      const [bob, a] = [await session.load(Agent, 2), await session.load(Visit, 'v')]
      bob.name = 'Rob'
      a.agent.set(bob)
      await session.save(a)
      expect(await stored('cp_visit', 'v')).to.include({ guide: 'Bob' })
      await session.save(bob)
      expect(await stored('cp_visit', 'v')).to.include({ guide: 'Rob' })
    })

    it('with refresh background are written by db.copies.refresh, and those with never stay', async () => {
      await world()
      await db.withSession(async (session) => void ((await session.load(Agent, 1)).phone = '77'))
      expect(await stored('cp_listing', 'a')).to.include({ agentPhone: '01' })
      const told: CopyProgress[] = []
      expect(await db.copies.refresh(Agent, { progress: (each) => told.push(each) })).to.equal(2)
      expect(told.at(-1)).to.deep.equal({ className: 'Call', records: 1, written: 0 })
      expect(await stored('cp_listing', 'b')).to.include({ agentPhone: '77', agentSince: 1 })
      expect(await db.copies.refresh(Agent)).to.equal(0)
      const error = await rejection(() => db.copies.refresh(Listing))
      expect(error).to.have.property('code', 'SKEIN_2336')
      const option = await rejection(() => db.copies.refresh(Agent, { onProgress: () => 0 } as object))
      expect(option).to.have.property('code', 'SKEIN_2320')
    })

    it('that are stale or missing are found by verify and repaired, and left alone where the source is gone', async () => {
      await world()
      const put = (set: string, key: string, bins: Record<string, string | number | null>): Promise<unknown> =>
        db.client.put(new Aerospike.Key(namespace, set, key), bins)
      await put('cp_listing', 'a', { agentName: 'Old', agentSince: 9 })
      await put('cp_call', 'c', { toName: null })
      expect(await stale()).to.deep.equal(['staleCopy Call.toName c found', 'staleCopy Listing.agentName a found'])
      expect(await stale(true)).to.deep.equal([
        'staleCopy Call.toName c repaired',
        'staleCopy Listing.agentName a repaired',
      ])
      expect(await stale()).to.deep.equal([])
      expect(await names()).to.deep.equal(['Ann', 'Ann', 'Ann', 'Ann'])
    })

    it('cannot be assigned, in a bulk update, by a raw operation or on an entity', async () => {
      await world()
      const session = db.session()
      const refused = async (work: () => unknown, code: string): Promise<void> => {
        let error: unknown
        const { commands } = await server.commands.during(async () => (error = await rejection(work)))
        expect(commands).to.equal(0)
        expect(error).to.be.instanceOf(SkeinError).and.have.property('code', code)
      }
      const a = await session.load(Listing, 'a')
      a.agentName = 'Me'
      await refused(() => session.save(a), 'SKEIN_2211')
      a.agentName = 'Ann'
      a.city = 'Bern'
      await session.save(a)
      await refused(() => session.save(make(new Listing(), { id: 'n', agentName: 'x' })), 'SKEIN_2211')
      await refused(() => db.session().upsert(make(new Listing(), { id: 'n', agentName: 'x' })), 'SKEIN_2211')
      await refused(() => db.scan(Listing).update({ agentName: 'x' }), 'SKEIN_2514')
      const raw = [Aerospike.operations.write('agentName', 'x')]
      await refused(() => session.operate(Listing, 'b', raw), 'SKEIN_2332')
    })

    it('are kept by an upsert of their entity that leaves the reference', async () => {
      await world()
      const a = make(new Listing(), { id: 'a', city: 'Bern' })
      a.agent.set(1)
      await db.session().upsert(a)
      expect(await stored('cp_listing', 'a')).to.include({ agentName: 'Ann', city: 'Bern', agScore: 2 })
      expect(a.agentName).to.equal('Ann')
    })

    it('take part in transactions', async function () {
      if (mode === 'ap') this.skip()
      await world()
      const work = db.transaction(async (session) => {
        const [ann, a] = [await session.load(Agent, 1), await session.load(Listing, 'a')]
        a.agent.set(2)
        await session.flush()
        expect(a.agentName).to.equal('Bob')
        ann.score = 9
        throw new Error('no')
      })
      expect(await rejection(() => work)).to.have.property('message', 'no')
      expect(await names()).to.deep.equal(['Ann', 'Ann', 'Ann', 'Ann'])
      await db.transaction(async (session) => void (await session.load(Listing, 'a')).agent.set(2))
      expect(await names()).to.deep.equal(['Bob', 'Ann', 'Ann', 'Ann'])
      const rename = (options?: { outsideTransaction: true }): Promise<unknown> =>
        db.transaction(async (session) => {
          const ann = await session.load(Agent, 1)
          ann.name = 'Anna'
          await session.flush(options)
        })
      // An index finds the visits and calls, and takes no part in a transaction.
      expect(await rejection(() => rename())).to.have.property('code', 'SKEIN_2313')
      expect(await names()).to.deep.equal(['Bob', 'Ann', 'Ann', 'Ann'])
      await rename({ outsideTransaction: true })
      expect(await names()).to.deep.equal(['Bob', 'Anna', 'Anna', 'Anna'])
    })

    it('agree with their sources when many rename and move at the same time', async () => {
      await world()
      const move = async (id: string, turns: number): Promise<void> => {
        for (let turn = 0; turn < turns; turn++)
          await db.withSession(async (session) => {
            const [listing, call] = [await session.load(Listing, id), await session.load(Call, 'c')]
            listing.agent.set((turn % 2) + 1)
            if (id === 'a') call.to.set((turn % 2) + 1)
          })
      }
      const rename = async (id: number, turns: number): Promise<void> => {
        for (let turn = 0; turn < turns; turn++)
          await db
            .withSession(async (session) => void ((await session.load(Agent, id)).name = `${id} ${turn}`))
            .catch((error: unknown) => expect(error).to.be.instanceOf(VersionConflictError))
      }
      await Promise.all([move('a', 6), move('b', 6), rename(1, 6), rename(1, 6), rename(2, 6)])
      expect(await stale()).to.deep.equal([])
    })

    it('cost one read with the reference by its key, and one more that looks at the source again', async () => {
      await store(agent(1, 'Ann'))
      const session = db.session()
      session.create(Visit, { id: 'v', agent: 1 })
      const words = await commandWords(server, () => session.flush())
      // The index strategy asks its owner as well.
      if (mode === 'ap') expect(words).to.deep.equal(['read', 'write', 'read', 'read'])
    })

    it('of a hundred records follow in as many round trips as there are steps', async () => {
      await store(agent(1, 'Ann'))
      await db.withSession((session) => {
        for (let i = 0; i < 100; i++) session.create(Listing, { id: `l${i}`, agent: 1 })
      })
      const session = db.session()
      const ann = await session.load(Agent, 1)
      ann.name = 'Anna'
      const { commands } = await server.commands.during(() => session.save(ann))
      // Writes the source, reads it and the keys for three classes, writes two copies each, and looks again.
      expect(commands).to.be.below(mode === 'ap' ? 16 : 30)
      expect(await db.scan(Listing).where({ agentName: 'Anna' }).count()).to.equal(100)
    })
  })
}
