import { expect } from 'chai'
import { Key, ManyToOne, OneToMany, PartialFailureError, Record, collection, ref, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'cut-agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @OneToMany(() => Note, 'agent', { onDelete: 'cascade' }) notes = collection<Note>()
}

@Record({ set: 'cut-listing' })
class Listing {
  @Key() id!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

@Record({ set: 'cut-note' })
class Note {
  @Key() id!: number
  @ManyToOne(() => Agent, 'notes') agent = ref<Agent>()
}

const CLASSES = [Agent, Listing, Note]
/** Answer to a read that the client does not repeat. */
const FORBIDDEN = 22

for (const mode of MODES) {
  describe(`a delete that fails on a read (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const agent = session.create(Agent, { id: 1 })
        agent.listings.add(session.create(Listing, { id: 1 }))
        agent.notes.add(session.create(Note, { id: 1 }))
        return Promise.resolve()
      })
    })
    afterEach(() => server.embedded?.faults.clear())

    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) found.push(message)
      return found
    }

    for (const set of ['cut-agent', 'cut-listing', 'cut-note']) {
      for (let skip = 0; skip < 4; skip++) {
        it(`is refused whole, or completed by the next flush: read ${skip + 1} of ${set}`, async function () {
          const session = db.session()
          const agent = await session.load(Agent, 1)
          const fault = await addFault(this, server, { kind: 'read', set, skip, times: Infinity, answer: FORBIDDEN })
          const error = await session.delete(agent).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          const isHit = (await fault.hits()) > 0
          await server.embedded!.faults.clear()
          if (!isHit) expect(error).to.equal(undefined)
          const isThere = (await db.session().find(Agent, 1)) !== null
          expect(session.isDirty()).to.equal(!isThere && error !== undefined)
          if (!isThere && error !== undefined) {
            expect(error).to.be.instanceOf(PartialFailureError)
            expect((error as Error).message)
              .to.contain('only in part')
              .and.to.contain('Flush again')
          }
          await session.flush()
          expect((await db.session().find(Agent, 1)) !== null).to.equal(isThere)
          expect(await findings()).to.deep.equal([])
        })
      }
    }

    it('leaves what another group of the same flush has written as written', async function () {
      const session = db.session()
      const [agent, other] = [await session.load(Agent, 1), session.create(Agent, { id: 2 })]
      other.listings.add(session.create(Listing, { id: 2 }))
      session.remove(agent)
      await addFault(this, server, { kind: 'read', set: 'cut-listing', skip: 1, times: Infinity, answer: FORBIDDEN })
      await rejection(() => session.flush())
      await server.embedded!.faults.clear()
      expect(session.isDirty(other)).to.equal((await db.session().find(Agent, 2)) === null)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await findings()).to.deep.equal([])
      expect(await db.session().find(Agent, 1)).to.equal(null)
      expect(await db.session().at(Agent, 2).collection('listings').keys()).to.deep.equal([2])
    })
  })
}
