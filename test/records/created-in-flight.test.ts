import { expect } from 'chai'
import { SkeinError, type Database } from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'
import {
  bare,
  CHANGES,
  FAULTS,
  Kept,
  Linked,
  Plain,
  SETS,
  underWay,
  Versioned,
  type Handle,
} from './in-flight-fields.js'

/** Answer to a write whose condition is not met. */
const FILTERED_OUT = 27

for (const mode of MODES) {
  for (const Class of [Plain, Versioned, Linked, Kept] as (typeof Plain)[]) {
    const isVersioned = Class === Versioned || Class === Kept
    const set = SETS.get(Class)!

    describe(`a handle's change of a ${Class.name} whose first write is under way (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, [Plain, Versioned, Linked, Kept], (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      const made = (id: number): Plain => Object.assign(new Class(), { id })
      const stored = async (id: number): Promise<object> => bare(await db.session().load(Class, id))
      const byOther = async (id: number, change: (handle: Handle) => void): Promise<void> => {
        const session = db.session()
        change(session.at(Class, id))
        await session.flush()
      }
      /** The record after so many changes, one after the other. */
      const after = async (times: number, change: (handle: Handle) => void): Promise<object> => {
        await db.session().upsert(made(0))
        for (let i = 0; i < times; i++) await byOther(0, change)
        return { ...(await stored(0)), id: 1 }
      }

      for (const [name, [change, assign]] of Object.entries(CHANGES)) {
        for (const call of ['save', 'flush', 'upsert'] as const)
          it(`is sent once by ${call}, as the change that it is, for ${name}`, async () => {
            const session = db.session()
            const entity = made(1)
            if (call === 'flush') session.persist(entity)
            const send = (): Promise<unknown> => (call === 'flush' ? session.flush() : session[call](entity))
            const first = await underWay(server, set, send)
            change(session.at(entity))
            assign?.(entity, session.at(entity))
            change(session.at(entity))
            const own = assign === undefined ? 2 : 3
            expect(bare(entity)).to.deep.equal(await after(own, change))
            await first.end
            if (!isVersioned) await byOther(1, change)
            await session.flush()
            expect(await stored(1)).to.deep.equal(await after(isVersioned ? own : own + 1, change))
            expect(bare(entity)).to.deep.equal(await after(own, change))
            expect(session.isDirty()).to.equal(false)
          })

        for (const [how, fault] of Object.entries(FAULTS))
          it(`is sent once where that ${how}, for ${name}`, async function () {
            need(this, server.embedded, 'only the embedded server makes faults')
            const session = db.session()
            const entity = session.persist(made(1))
            change(session.at(entity))
            const first = await underWay(server, set, () => session.flush().catch(() => undefined), fault)
            change(session.at(entity))
            assign?.(entity, session.at(entity))
            change(session.at(entity))
            await first.end
            change(session.at(entity))
            const own = assign === undefined ? 4 : 5
            expect(bare(entity)).to.deep.equal(await after(own, change))
            await session.flush()
            expect(await stored(1)).to.deep.equal(await after(own, change))
            await session.flush()
            expect(await stored(1)).to.deep.equal(await after(own, change))
            expect(session.isDirty()).to.equal(false)
          })

        if (assign !== undefined)
          it(`is sent as a change where an upsert is refused meanwhile, for ${name}`, async function () {
            need(this, server.embedded, 'only the embedded server makes faults')
            await db.session().save(made(1))
            const session = db.session()
            const entity = await session.load(Class, 1)
            assign(entity, session.at(entity))
            const first = await underWay(server, set, () => session.upsert(entity), { answer: FILTERED_OUT })
            change(session.at(entity))
            assign(entity, session.at(entity))
            change(session.at(entity))
            expect(await rejection(() => first.end)).to.be.instanceOf(SkeinError)
            if (!isVersioned) await byOther(1, change)
            await session.flush()
            expect(await stored(1)).to.deep.equal(await after(isVersioned ? 4 : 5, change))
            expect(session.isDirty()).to.equal(false)
          })

        it(`is sent as a change after an upsert of what is stored, for ${name}`, async () => {
          await db.session().save(made(1))
          const session = db.session()
          const entity = await session.load(Class, 1)
          assign?.(entity, session.at(entity))
          const first = await underWay(server, set, () => session.upsert(entity))
          change(session.at(entity))
          assign?.(entity, session.at(entity))
          change(session.at(entity))
          await first.end
          if (!isVersioned) await byOther(1, change)
          await session.flush()
          const own = assign === undefined ? 2 : 4
          expect(await stored(1)).to.deep.equal(await after(isVersioned ? own : own + 1, change))
        })
      }
    })
  }
}
