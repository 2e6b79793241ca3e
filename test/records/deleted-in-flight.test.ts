import { expect } from 'chai'
import {
  AfterDelete,
  Bin,
  collection,
  Counter,
  EntityGoneError,
  Key,
  OneToMany,
  Record,
  SkeinError,
  VersionConflictError,
  Version,
  type Database,
  type RecordHandle,
  type Session,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

class Fields {
  @Key() id!: number
  @Counter() km = 0
  @Bin({ type: { list: 'int' } }) log: number[] = []
}

@Record({ set: 'rec_gone' })
class Plain extends Fields {}

@Record({ set: 'rec_gone_v' })
class Versioned extends Fields {
  @Version() version!: number
}

@Record({ set: 'rec_gone_h' })
class Hooked extends Fields {
  @AfterDelete() noteDeleted(): void {}
}

@Record({ set: 'rec_gone_p' })
class Parent extends Fields {
  @OneToMany(() => Plain, { strategy: 'keyList', onDelete: 'cascade' }) members = collection<Plain>()
}

const CLASSES = [Plain, Versioned, Hooked, Parent] as (typeof Plain)[]

const DELETES: { readonly [how: string]: (session: Session, Class: typeof Plain) => Promise<() => Promise<unknown>> } =
  {
    'delete of an entity': async (session, Class) => {
      const entity = await session.load(Class, 1)
      return () => session.delete(entity)
    },
    'delete by key': (session, Class) => Promise.resolve(() => session.delete(Class, 1)),
    'delete by key of a loaded entity': async (session, Class) => {
      await session.load(Class, 1)
      return () => session.delete(Class, 1)
    },
    'flush of a removed entity': async (session, Class) => {
      session.remove(await session.load(Class, 1))
      return () => session.flush()
    },
  }

const change = (handle: RecordHandle<Plain>): void => {
  handle.counter('km').add(1)
  handle.list('log').append(5)
}

for (const mode of MODES)
  for (const Class of CLASSES) {
    describe(`a handle's change of a ${Class.name} whose delete is under way (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      const store = (): Promise<Plain> => db.session().save(Object.assign(new Class(), { id: 1, km: 7, log: [1] }))
      const stored = async (): Promise<unknown> => {
        const found = await db.session().find(Class, 1)
        return found && [found.km, found.log]
      }
      /** Begins the delete and waits until the server has it. */
      const underWay = async (
        begin: () => Promise<unknown>,
        fault: object = {},
      ): Promise<{ end: Promise<unknown> }> => {
        const met = await server.embedded!.faults.add({ kind: ['delete', 'write'], times: 1, delay: 10, ...fault })
        const end = begin()
        end.catch(() => undefined)
        while ((await met.hits()) === 0) await new Promise(setImmediate)
        return { end }
      }

      for (const [how, prepare] of Object.entries(DELETES)) {
        for (const create of [true, false])
          it(`is sent after the ${how}, ${create ? 'and creates the record again' : 'and finds no record'}`, async function () {
            need(this, server.embedded, 'only the embedded server is slow on demand')
            await store()
            const session = db.session()
            const { end } = await underWay(await prepare(session, Class))
            const handle = session.at(Class, 1, create ? { create } : undefined)
            change(handle)
            const asked = handle.counter('km').value()
            expect(await asked).to.equal(create ? 1 : 0)
            await end
            expect(session.isDirty()).to.equal(true)
            change(handle)
            if (create) await session.flush()
            else expect(await rejection(() => session.flush())).to.be.instanceOf(EntityGoneError)
            expect(await stored()).to.deep.equal(create ? [2, [5, 5]] : null)
            expect(session.isDirty()).to.equal(!create)
          })

        // A failed delete by key alone is no flush's to finish.
        if (how !== 'delete by key' && Class !== Hooked)
          it(`is kept where the ${how} fails, and sent by the flush that finishes that`, async function () {
            need(this, server.embedded, 'only the embedded server makes faults')
            await store()
            const session = db.session()
            const { end } = await underWay(await prepare(session, Class), { drop: true, times: 20 })
            change(session.at(Class, 1, { create: true }))
            await rejection(() => end)
            await server.embedded!.faults.clear()
            await session.flush()
            expect(await stored()).to.deep.equal([1, [5]])
            expect(session.isDirty()).to.equal(false)
          })
      }

      it('is a change of the entity where it is saved meanwhile', async function () {
        need(this, server.embedded, 'only the embedded server is slow on demand')
        await store()
        const session = db.session()
        const entity = await session.load(Class, 1)
        const { end } = await underWay(() => session.delete(entity))
        change(session.at(Class, 1, { create: true }))
        const saved = session.save(entity)
        expect([entity.km, entity.log]).to.deep.equal([8, [1, 5]])
        await Promise.all([end, saved])
        expect(await stored()).to.deep.equal([8, [1, 5]])
        expect(session.isDirty()).to.equal(false)
      })

      it('is refused while no flush has sent the delete, and nothing of it is left', async () => {
        await store()
        const session = db.session()
        const entity = await session.load(Class, 1)
        session.remove(entity)
        for (const handle of [session.at(entity), session.at(Class, 1, { create: true })]) {
          const error = await rejection(() => Promise.resolve(handle).then((one) => one.counter('km').add(1)))
          expect(error).to.be.instanceOf(SkeinError)
          expect(error).to.include({ code: 'SKEIN_2304' })
          expect((error as SkeinError).details).to.include({ className: Class.name, property: 'km', key: 1 })
        }
        await session.flush()
        expect(await stored()).to.equal(null)
        change(session.at(Class, 1, { create: true }))
        await session.flush()
        expect(await stored()).to.deep.equal([1, [5]])
      })
    })
  }

for (const mode of MODES)
  describe(`a handle's change beside a delete that is refused (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))

    it('stays a change of the entity', async () => {
      await db.session().save(Object.assign(new Versioned(), { id: 1, km: 7, log: [1] }))
      const session = db.session()
      const entity = await session.load(Versioned, 1)
      const other = db.session()
      other.at(Versioned, 1).counter('km').add(10)
      await other.flush()
      const end = session.delete(entity)
      change(session.at(Versioned, 1))
      expect(await rejection(() => end)).to.be.instanceOf(VersionConflictError)
      expect([entity.km, entity.log]).to.deep.equal([8, [1, 5]])
      expect(session.isDirty()).to.equal(true)
      expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
    })

    it('is refused for the members of a collection', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server is slow on demand')
      await db.session().save(Object.assign(new Parent(), { id: 1 }))
      const session = db.session()
      const entity = await session.load(Parent, 1)
      await faults.add({ kind: ['delete', 'write'], times: 1, delay: 10 })
      const end = session.delete(entity)
      expect(() => session.at(Parent, 1, { create: true }).collection('members'))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2304')
      await end
    })
  })
