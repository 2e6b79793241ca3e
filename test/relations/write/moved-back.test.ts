import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  EntityGoneError,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PartialFailureError,
  Record,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Tag {
  @Bin() text!: string
}
const tag = (text: string): Tag => Object.assign(new Tag(), { text })

@Record({ set: 'back-agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @OneToMany(() => Listing, 'office', { strategy: 'secondaryIndex' }) found = collection<Listing>()
  @OneToOne(() => Listing, 'keeper', { owner: true }) home = ref<Listing>()
  @ManyToMany(() => Listing, 'fans', { owner: true }) likes = collection<Listing>()
  @ManyToMany(() => Listing, 'tasters', { owner: true, attributes: () => Tag }) tastes = collection<Listing, Tag>()
}

@Record({ set: 'back-listing' })
class Listing {
  @Key() id!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @ManyToOne(() => Agent, 'found') office = ref<Agent>()
  @OneToOne(() => Agent, 'home') keeper = ref<Agent>()
  @ManyToMany(() => Agent, 'likes') fans = collection<Agent>()
  @ManyToMany(() => Agent, 'tastes', { attributes: () => Tag }) tasters = collection<Agent, Tag>()
}

const CLASSES = [Agent, Listing]
const MISSING = 99
/** An answer that the client does not repeat. */
const FORBIDDEN = 22
/** An answer after which a write is repeated. */
const BUSY = 14
type Change = (session: Session) => Promise<unknown>

for (const mode of MODES) {
  describe(`links that another session puts back (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const [agent] = [1, 2].map((id) => session.create(Agent, { id }))
        const [listing] = [1, 2].map((id) => session.create(Listing, { id }))
        agent.listings.add(listing)
        agent.found.add(listing)
        agent.home.set(listing)
        return Promise.resolve()
      })
    })
    afterEach(() => server.embedded?.faults.clear())

    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) found.push(message)
      return found
    }
    const listing = (session: Session): Promise<Listing> => session.load(Listing, 1)
    const agent = (session: Session, id: number): Promise<Agent> => session.load(Agent, id)

    const MOVES: Readonly<globalThis.Record<string, { away: Change; back: Change; stops: string }>> = {
      'a child by its reference': {
        away: async (session) => (await listing(session)).agent.set(2),
        back: async (session) => (await listing(session)).agent.set(1),
        stops: 'back-agent',
      },
      'a child by the collection it goes to': {
        away: async (session) => (await agent(session, 2)).listings.add(1),
        back: async (session) => (await agent(session, 1)).listings.add(1),
        stops: 'back-agent',
      },
      'a child by the collection it leaves': {
        away: async (session) => (await agent(session, 1)).listings.remove(1),
        back: async (session) => (await agent(session, 1)).listings.add(1),
        stops: 'back-agent',
      },
      'one of a pair, by its owner': {
        away: async (session) => (await agent(session, 1)).home.set(2),
        back: async (session) => (await agent(session, 1)).home.set(1),
        stops: 'back-listing',
      },
      'one of a pair, by the other': {
        away: async (session) => (await listing(session)).keeper.set(2),
        back: async (session) => (await listing(session)).keeper.set(1),
        stops: 'back-agent',
      },
      'one of a pair, to nobody': {
        away: async (session) => (await agent(session, 1)).home.set(null),
        back: async (session) => (await agent(session, 1)).home.set(1),
        stops: 'back-listing',
      },
    }

    for (const [name, { away, back, stops }] of Object.entries(MOVES)) {
      it(`are whole when the end of the first move comes last: ${name}`, async function () {
        const first = db.session()
        await away(first)
        await addFault(this, server, { kind: 'write', set: stops, key: 1, answer: FORBIDDEN })
        await rejection(() => first.flush({ transactions: 'off' }))
        await server.embedded!.faults.clear()
        const second = db.session()
        await back(second)
        await second.flush({ transactions: 'off' })
        await first.flush({ transactions: 'off' })
        expect(first.isDirty()).to.equal(false)
        expect(await findings()).to.deep.equal([])
      })

      it(`are whole when the moves overlap: ${name}`, async function () {
        const [first, second] = [db.session(), db.session()]
        await away(first)
        const fault = await addFault(this, server, { kind: 'write', set: stops, key: 1, delay: 150 })
        const moving = first.flush({ transactions: 'off' })
        await untilHit(fault, moving)
        await back(second)
        await Promise.all([moving, second.flush({ transactions: 'off' })])
        expect(await findings()).to.deep.equal([])
      })
    }

    const LINKS: Readonly<globalThis.Record<string, { one: Change; other: Change }>> = {
      'made and taken out': {
        one: (session) => Promise.resolve(session.at(Agent, 1).collection('likes').add(1)),
        other: (session) => Promise.resolve(session.at(Agent, 1).collection('likes').remove(1)),
      },
      'made and taken out from its other end': {
        one: (session) => Promise.resolve(session.at(Agent, 1).collection('likes').add(1)),
        other: (session) => Promise.resolve(session.at(Listing, 1).collection('fans').remove(1)),
      },
      'taken out and made': {
        one: (session) => Promise.resolve(session.at(Agent, 1).collection('likes').remove(1)),
        other: (session) => Promise.resolve(session.at(Agent, 1).collection('likes').add(1)),
      },
      'made and taken out, with attributes': {
        one: (session) => Promise.resolve(session.at(Agent, 1).collection('tastes').link(1, tag('mine'))),
        other: (session) => Promise.resolve(session.at(Agent, 1).collection('tastes').remove(1)),
      },
      'taken out and made, with attributes': {
        one: (session) => Promise.resolve(session.at(Agent, 1).collection('tastes').remove(1)),
        other: (session) => Promise.resolve(session.at(Agent, 1).collection('tastes').link(1, tag('yours'))),
      },
    }
    for (const [name, { one, other }] of Object.entries(LINKS)) {
      for (const set of ['back-agent', 'back-listing']) {
        it(`are on both sides or on none when they are ${name} at once, and ${set} is busy`, async function () {
          for (let times = 1; times <= 6; times++) {
            const [first, second] = [db.session(), db.session()]
            await one(first)
            await other(second)
            const fault = await addFault(this, server, { kind: 'write', set, key: 1, answer: BUSY, times })
            const linking = first.flush({ transactions: 'off' })
            await untilHit(fault, linking)
            await Promise.all([linking, second.flush({ transactions: 'off' })])
            await server.embedded!.faults.clear()
            expect(await findings(), `busy for ${times} writes`).to.deep.equal([])
          }
        })
      }
    }

    it('leave the former partner paired where the new one is gone', async () => {
      const session = db.session()
      const [one, gone] = [await agent(session, 2), await session.load(Listing, 2)]
      await db.session().delete(Listing, 2)
      await db.withSession(async (other) => (await agent(other, 2)).home.set(await listing(other)))
      one.home.set(gone)
      for (let i = 0; i < 2; i++) {
        await rejection(() => session.flush({ transactions: 'off' }))
        expect(await findings()).to.deep.equal([])
      }
      expect((await agent(db.session(), 2)).home.key).to.equal(1)
      session.detach(gone)
      await session.refresh(one)
      await session.flush()
      expect(await findings()).to.deep.equal([])
      expect((await listing(db.session())).keeper.key).to.equal(2)
    })

    const LINKED: Readonly<globalThis.Record<string, (one: Agent) => void>> = {
      'by a link': (one) => one.likes.add(2),
      'by a link with attributes': (one) => one.tastes.link(2, tag('mine')),
    }
    for (const [name, link] of Object.entries(LINKED)) {
      it(`do not lead to a child that is linked ${name} after its delete has read its links`, async function () {
        for (const isLinkedBefore of [false, true]) {
          const [first, second] = [db.session(), db.session()]
          if (isLinkedBefore) {
            await db.withSession((session) => void session.create(Listing, { id: 2 }))
            await db.withSession(async (session) => (await agent(session, 1)).likes.add(2))
            await db.withSession(async (session) => (await agent(session, 1)).tastes.link(2, tag('old')))
          }
          const fault = await addFault(this, server, {
            kind: isLinkedBefore ? 'write' : 'delete',
            set: 'back-listing',
            key: 2,
            delay: 150,
          })
          const gone = await first.load(Listing, 2)
          const deleting = first.delete(gone, { transactions: 'off' })
          await untilHit(fault, deleting)
          link(await agent(second, 2))
          await second.flush({ transactions: 'off' }).catch(() => undefined)
          await deleting
          await server.embedded!.faults.clear()
          expect(await findings()).to.deep.equal([])
        }
      })
    }

    const AGAIN: Readonly<globalThis.Record<string, (to: Agent, again: Listing) => void>> = {
      'by a list': (to, again) => to.listings.add(again),
      'by a link': (to, again) => to.likes.add(again),
      'as a partner': (to, again) => to.home.set(again),
    }
    for (const [name, link] of Object.entries(AGAIN)) {
      it(`do not lead to a child that is stored again and deleted by another session before it is linked ${name}`, async function () {
        const [first, second] = [db.session(), db.session()]
        const [to, again] = [await agent(first, 2), await first.load(Listing, 2)]
        await first.delete(again)
        link(to, again)
        const fault = await addFault(this, server, { kind: 'write', set: 'back-agent', key: 2, delay: 150 })
        const linking = first.flush({ transactions: 'off' }).catch(() => undefined)
        await untilHit(fault, linking)
        await second.delete(Listing, 2, { transactions: 'off' })
        await linking
        expect(await findings()).to.deep.equal([])
      })
    }

    const LOST: Readonly<globalThis.Record<string, Change>> = {
      'a child by its reference': async (session) => (await listing(session)).agent.set(MISSING),
      'a child by the collection it goes to': async (session) =>
        Promise.resolve(session.at(Agent, MISSING).collection('listings').add(1)),
      'a child by index': async (session) => (await listing(session)).office.set(MISSING),
      'a child by the collection it goes to, by index': async (session) =>
        Promise.resolve(session.at(Agent, MISSING).collection('found').add(1)),
    }
    for (const [name, change] of Object.entries(LOST)) {
      it(`do not go back to a parent that was deleted meanwhile: ${name}`, async function () {
        const session = db.session()
        await change(session)
        const fault = await addFault(this, server, { kind: 'write', set: 'back-listing', key: 1, skip: 1, delay: 300 })
        const moving = rejection(() => session.flush({ transactions: 'off' }))
        await untilHit(fault, moving)
        await db.session().delete(Agent, 1, { transactions: 'off' })
        await moving
        expect(await findings()).to.deep.equal([])
        await rejection(() => session.flush())
        expect(await findings()).to.deep.equal([])
      })

      it(`are reported as not written when they are rolled back: ${name}`, async () => {
        const session = db.session()
        await change(session)
        const error = await rejection(() => session.flush({ transactions: 'off' }))
        // Where only the child is written, the error is that of its one record.
        if (error instanceof PartialFailureError)
          expect(new Set(error.records.map(({ outcome }) => outcome))).to.deep.equal(new Set(['notWritten']))
        else expect(error).to.be.instanceOf(EntityGoneError)
        expect(await findings()).to.deep.equal([])
      })
    }
  })
}
