import { expect } from 'chai'
import { SkeinError, type Database } from 'skein'
import { need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'
import { bare, CHANGES, Linked, SETS, underWay, type Handle } from './in-flight-fields.js'

const set = SETS.get(Linked)!
const REQUIRED = { transactions: 'required' } as const

describe("a handle's change while a transaction carries the entity with another one", () => {
  let db: Database
  let server: TestServer
  useDatabase('sc', [Linked], (opened) => ({ db, server } = opened))
  afterEach(() => server.embedded?.faults.clear())

  const made = (id: number): Linked => Object.assign(new Linked(), { id })
  const stored = async (id: number): Promise<object> => bare(await db.session().load(Linked, id))
  const byOther = async (id: number, change: (handle: Handle) => void): Promise<void> => {
    const session = db.session()
    change(session.at(Linked, id))
    await session.flush()
  }
  const after = async (times: number, change: (handle: Handle) => void): Promise<object> => {
    await db.session().upsert(made(0))
    for (let i = 0; i < times; i++) await byOther(0, change)
    return { ...(await stored(0)), id: 1 }
  }

  for (const [name, [change, assign]] of Object.entries(CHANGES)) {
    for (const isNew of [true, false])
      it(`is sent once to ${isNew ? 'a new entity' : 'a stored one'}, for ${name}`, async () => {
        if (!isNew) await db.session().save(made(1))
        const session = db.session()
        const entity = isNew ? session.persist(made(1)) : await session.load(Linked, 1)
        entity.friend.set(session.persist(made(2)))
        change(session.at(entity))
        const first = await underWay(server, set, () => session.flush(REQUIRED))
        change(session.at(entity))
        assign?.(entity, session.at(entity))
        change(session.at(entity))
        const own = assign === undefined ? 3 : 4
        await first.end
        await byOther(1, change)
        await session.flush(REQUIRED)
        expect(await stored(1)).to.deep.equal(await after(own + 1, change))
        expect(bare(entity)).to.deep.equal(await after(own, change))
        expect((await db.session().load(Linked, 1)).friend.key).to.equal(2)
        expect(session.isDirty()).to.equal(false)
      })

    it(`is sent with the first after the transaction has failed, for ${name}`, async function () {
      need(this, server.embedded, 'only the embedded server makes faults')
      await db.session().save(made(1))
      const session = db.session()
      const entity = await session.load(Linked, 1)
      entity.friend.set(session.persist(made(2)))
      assign?.(entity, session.at(entity))
      const first = await underWay(server, set, () => session.flush(REQUIRED), { answer: 22 })
      change(session.at(entity))
      assign?.(entity, session.at(entity))
      expect(await rejection(() => first.end)).to.be.instanceOf(SkeinError)
      await byOther(1, change)
      await session.flush(REQUIRED)
      expect(await stored(1)).to.deep.equal(await after(assign === undefined ? 2 : 4, change))
      expect(session.isDirty()).to.equal(false)
    })
  }
})
