import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  EntityGoneError,
  Key,
  OneToMany,
  Record,
  Version,
  type Database,
  type RecordHandle,
  type Session,
} from 'skein'
import { need, type TestServer } from '../server.js'
import { addFault, untilHit } from '../until-hit.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const REQUIRED = { transactions: 'required' } as const

@Record({ set: 'rec_req_m' })
class Member {
  @Key() id!: number
  @Counter() n = 0
}

class Fields {
  @Key() id!: number
  @Counter() n = 0
  @Bin({ type: { list: 'int' } }) log: number[] = []
  @OneToMany(() => Member, { strategy: 'keyList', onDelete: 'cascade' }) members = collection<Member>()
}

@Record({ set: 'rec_req' })
class Plain extends Fields {}

@Record({ set: 'rec_req_v' })
class Versioned extends Fields {
  @Version() version!: number
}

const CLASSES = [Plain, Versioned] as (typeof Plain)[]

const READS: { readonly [how: string]: (session: Session, Class: typeof Plain) => Promise<Plain> } = {
  load: (session, Class) => session.load(Class, 1),
  'load of some properties': (session, Class) => session.load(Class, 1, { only: ['n', 'log'] }),
  'a load with members': (session, Class) => session.load(Class, 1, { with: ['members'] }),
  loadMany: async (session, Class) => (await session.loadMany(Class, [1, 2]))[0],
  query: async (session, Class) => {
    for await (const found of session.query(Class).where({ id: 1 }).scan()) return found
    throw new Error('nothing was found')
  },
}

const DELETES: { readonly [how: string]: (session: Session, Class: typeof Plain) => Promise<() => Promise<unknown>> } =
  {
    'delete of an entity': async (session, Class) => {
      const entity = await session.load(Class, 1)
      return () => session.delete(entity, REQUIRED)
    },
    'delete by key': (session, Class) => Promise.resolve(() => session.delete(Class, 1, REQUIRED)),
    'flush of a removed entity': async (session, Class) => {
      session.remove(await session.load(Class, 1))
      return () => session.flush(REQUIRED)
    },
  }

const change = (handle: RecordHandle<Plain>): void => {
  handle.counter('n').add(1)
  handle.list('log').append(5)
}

for (const Class of CLASSES)
  describe(`a ${Class.name} whose handle is used while a required transaction carries its record`, () => {
    let db: Database
    let server: TestServer
    useDatabase('sc', [...CLASSES, Member], (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())

    const set = Class === Plain ? 'rec_req' : 'rec_req_v'
    const store = async (): Promise<void> => {
      const session = db.session()
      for (const id of [1, 2]) {
        const one = session.persist(Object.assign(new Class(), { id, n: 7, log: [1] }))
        one.members.add(Object.assign(new Member(), { id }))
      }
      await session.flush(REQUIRED)
    }
    const stored = async (): Promise<unknown> => {
      const found = await db.session().find(Class, 1, { with: ['members'] })
      return found && [found.n, found.log, [...found.members].map(({ id }) => id)]
    }

    for (const [how, prepare] of Object.entries(DELETES))
      for (const create of [true, false])
        it(`sends a change after the ${how}, ${create ? 'and creates the record again' : 'and finds no record'}`, async function () {
          await store()
          const session = db.session()
          const begin = await prepare(session, Class)
          const met = await addFault(this, server, { kind: 'delete', set, delay: 10 })
          const end = begin()
          await untilHit(met, end)
          const handle = session.at(Class, 1, create ? { create } : undefined)
          change(handle)
          expect(await handle.counter('n').value()).to.equal(create ? 1 : 0)
          await end
          expect(await db.session().find(Member, 1)).to.equal(null)
          if (create) await session.flush(REQUIRED)
          else expect(await rejection(() => session.flush(REQUIRED))).to.be.instanceOf(EntityGoneError)
          expect(await stored()).to.deep.equal(create ? [1, [5], []] : null)
        })

    it('sends a change with the entity where that is saved while it is deleted', async function () {
      await store()
      const session = db.session()
      const entity = await session.load(Class, 1)
      const met = await addFault(this, server, { kind: 'delete', set, delay: 10 })
      const end = session.delete(entity, REQUIRED)
      await untilHit(met, end)
      change(session.at(Class, 1, { create: true }))
      await Promise.all([end, session.save(entity, REQUIRED)])
      expect([entity.n, entity.log]).to.deep.equal([8, [1, 5]])
      expect(await stored()).to.deep.equal([8, [1, 5], []])
      expect(session.isDirty()).to.equal(false)
    })

    it('keeps a change where the transaction of the delete fails, and sends it with the flush that finishes that', async function () {
      await store()
      const session = db.session()
      const met = await addFault(this, server, { kind: 'delete', set, delay: 10, answer: 22 })
      const end = session.delete(await session.load(Class, 1), REQUIRED)
      await untilHit(met, end)
      change(session.at(Class, 1, { create: true }))
      await rejection(() => end)
      await session.flush(REQUIRED)
      expect(await stored()).to.deep.equal([1, [5], []])
      expect(session.isDirty()).to.equal(false)
    })

    for (const [how, read] of Object.entries(READS))
      for (const when of ['before', 'while'] as const)
        it(`shows changes once and can be changed where it is read by ${how} ${when} they are sent`, async function () {
          const { faults } = need(this, server.embedded, 'only the embedded server is slow on demand')
          await store()
          const session = db.session()
          const handle = session.at(Class, 1)
          change(handle)
          handle.collection('members').add(session.persist(Object.assign(new Member(), { id: 9 })))
          let reading: Promise<Plain>
          let flushed: Promise<unknown>
          if (when === 'before') {
            const late = await faults.add({ kind: ['read', 'query'], set, delay: 25, after: true })
            reading = read(session, Class)
            await untilHit(late, reading)
            flushed = session.flush(REQUIRED)
          } else {
            const slow = await faults.add({ kind: 'write', set, delay: 15 })
            flushed = session.flush(REQUIRED)
            await untilHit(slow, flushed)
            reading = read(session, Class)
          }
          const asked = handle.counter('n').value()
          const [entity] = await Promise.all([reading, flushed])
          expect(await asked).to.equal(8)
          expect([entity.n, entity.log]).to.deep.equal([8, [1, 5]])
          expect([...(await entity.members.load())].map(({ id }) => id)).to.have.members([1, 9])
          entity.n += 10
          entity.log.push(6)
          entity.members.remove(1)
          await session.flush(REQUIRED)
          expect(await stored()).to.deep.equal([18, [1, 5, 6], [9]])
          expect([entity.n, entity.log]).to.deep.equal([18, [1, 5, 6]])
          expect(session.isDirty()).to.equal(false)
        })

    it('shows and sends changes once where the commit in between is tried again', async function () {
      await store()
      const session = db.session()
      const handle = session.at(Class, 1)
      change(handle)
      handle.collection('members').add(session.persist(Object.assign(new Member(), { id: 9 })))
      const met = await addFault(this, server, { kind: 'write', set, delay: 5, answer: 120 })
      const flushed = session.flush(REQUIRED)
      await untilHit(met, flushed)
      const reading = session.load(Class, 1)
      change(handle)
      const entity = await reading
      await flushed
      expect([entity.n, entity.log]).to.deep.equal([9, [1, 5, 5]])
      await session.flush(REQUIRED)
      expect(await stored()).to.deep.equal([9, [1, 5, 5], [1, 9]])
    })
  })
