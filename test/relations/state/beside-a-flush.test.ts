import { expect } from 'chai'
import { Bin, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Database, type Session } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'beside-agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @ManyToMany(() => Listing, 'fans', { owner: true }) likes = collection<Listing>()
}

@Record({ set: 'beside-listing' })
class Listing {
  @Key() id!: number
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @ManyToMany(() => Agent, 'likes') fans = collection<Agent>()
}

const CLASSES = [Agent, Listing]
const ticks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

for (const mode of MODES) {
  describe(`calls beside each other in one session (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.create(Agent, { id: 1 }).listings.add(session.create(Listing, { id: 1 }))
        session.create(Agent, { id: 2 })
        return Promise.resolve()
      })
    })
    afterEach(() => server.embedded?.faults.clear())

    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) found.push(message)
      return found
    }
    const loaded = async (): Promise<{ session: Session; first: Agent; second: Agent; listing: Listing }> => {
      const session = db.session()
      const [first, second] = await session.loadMany(Agent, [1, 2])
      return { session, first, second, listing: await session.load(Listing, 1) }
    }

    it('a flush beside explain stores no link to what is removed meanwhile', async () => {
      const { session, second, listing } = await loaded()
      listing.agent.set(second)
      second.likes.add(listing)
      const calls = [session.flush(), session.explain()]
      session.remove(listing)
      await Promise.all(calls)
      await session.flush()
      expect(await findings()).to.deep.equal([])
    })

    it('a flush beside explain stores no link to what was removed before', async () => {
      const { session, second, listing } = await loaded()
      listing.agent.set(second)
      second.likes.add(listing)
      session.remove(listing)
      await Promise.all([session.flush(), session.explain()])
      expect(await findings()).to.deep.equal([])
      expect(session.isDirty()).to.equal(false)
    })

    it('explain beside a flush shows what is left to do after it', async () => {
      const { session, listing } = await loaded()
      listing.city = 'Lund'
      const [, explanation] = await Promise.all([session.flush(), session.explain()])
      expect(String(explanation)).to.not.contain('city')
    })

    it('a move that is made while explain looks at a delete stays', async () => {
      for (let count = 0; count < 8; count++) {
        const { session, first, second, listing } = await loaded()
        session.remove(first)
        const explaining = session.explain()
        await ticks(count)
        listing.agent.set(second)
        await explaining
        expect(listing.agent.key, `${count} ticks`).to.equal(2)
        expect(session.changes(listing).kind, `${count} ticks`).to.equal('update')
      }
    })

    it('explain changes nothing that entities show while it reads', async () => {
      await db.withSession((session) => void session.create(Listing, { id: 2 }))
      const { session, first, second, listing } = await loaded()
      const [other] = await Promise.all([session.load(Listing, 2), first.listings.load(), second.likes.load()])
      second.likes.add(other)
      session.remove(first)
      session.remove(other)
      const show = (): string =>
        JSON.stringify([
          listing.agent,
          listing.agent.key,
          listing.agent.isLoaded,
          first.listings.items,
          second.likes.items,
        ])
      const seen = new Set([show()])
      let isDone = false
      const explaining = session.explain().finally(() => (isDone = true))
      while (!isDone) {
        await ticks(1)
        seen.add(show())
      }
      expect(String(await explaining)).to.contain('delete Agent beside-agent/1')
      expect([...seen]).to.have.length(1)
      await session.flush()
      expect(listing.agent.key).to.equal(null)
      expect(await findings()).to.deep.equal([])
    })

    it('a remove that is called while explain looks at a cascade stays', async () => {
      for (let count = 0; count < 8; count++) {
        const { session, first, listing } = await loaded()
        session.remove(first)
        const explaining = session.explain()
        await ticks(count)
        session.remove(listing)
        await explaining
        expect(session.changes(listing).kind, `${count} ticks`).to.equal('delete')
      }
    })

    const REMOVALS: Readonly<globalThis.Record<string, (session: Session, agent: Agent) => unknown>> = {
      'a remove that is called': (session, agent) => (session.remove(agent), undefined),
      'a delete that is called': async (session, agent) => expect(await session.delete(agent)).to.equal(true),
    }
    for (const [name, removal] of Object.entries(REMOVALS)) {
      it(`${name} during a flush of the same entity leaves no member behind that points to it`, async () => {
        for (let count = 0; count < 8; count++) {
          const key = 10 + count
          await db.withSession((session) => {
            session.create(Agent, { id: key }).listings.add(session.create(Listing, { id: key }))
          })
          const session = db.session()
          const agent = await session.load(Agent, key)
          agent.likes.add(1)
          const flushing = session.flush()
          await ticks(count)
          await Promise.all([removal(session, agent), flushing])
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await findings(), `${count} ticks`).to.deep.equal([])
        }
      })

      it(`${name} during a flush that is tried again detaches its members`, async function () {
        const session = db.session()
        const agent = await session.load(Agent, 1)
        agent.likes.add(1)
        const fault = await addFault(this, server, { kind: 'write', set: 'beside-agent', delay: 100, answer: 120 })
        const flushing = session.flush().catch(() => undefined)
        await untilHit(fault, flushing)
        await Promise.all([removal(session, agent), flushing])
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Listing, 1)).agent.key).to.equal(null)
        expect(await findings()).to.deep.equal([])
      })
    }

    const FAILURES = [
      { kind: 'write', set: 'beside-listing' },
      { kind: 'write', set: 'beside-agent' },
      { kind: 'delete', set: 'beside-agent' },
      { kind: 'read', set: 'beside-listing' },
      { kind: 'read', set: 'beside-agent' },
    ] as const
    for (const { kind, set } of FAILURES) {
      it(`a move that is made while a delete fails on a ${kind} of ${set} stays`, async function () {
        const { session, first, second, listing } = await loaded()
        const fault = await addFault(this, server, { kind, set, delay: 100, answer: 22, times: 40 })
        const deleting = session.delete(first).catch(() => undefined)
        await untilHit(fault, deleting)
        listing.agent.set(second)
        second.likes.add(listing)
        await deleting
        await server.embedded!.faults.clear()
        expect(listing.agent.key).to.equal(2)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Listing, 1)).agent.key).to.equal(2)
        expect(await db.session().at(Agent, 2).collection('likes').keys()).to.deep.equal([1])
        expect(await findings()).to.deep.equal([])
      })
    }

    it('a link that is made while the delete of another member fails stays', async function () {
      const { session, second, listing } = await loaded()
      const other = session.create(Listing, { id: 2 })
      await session.flush()
      second.likes.add(listing)
      const fault = await addFault(this, server, { kind: ['write', 'delete'], delay: 100, answer: 22, times: 40 })
      const deleting = session.delete(listing).catch(() => undefined)
      await untilHit(fault, deleting)
      second.likes.add(other)
      await deleting
      await server.embedded!.faults.clear()
      await session.flush()
      expect(await db.session().at(Agent, 2).collection('likes').contains(2)).to.equal(true)
      expect(await findings()).to.deep.equal([])
    })
  })
}
