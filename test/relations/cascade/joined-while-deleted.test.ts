import { expect } from 'chai'
import { Key, ManyToOne, OneToMany, OneToOne, Record, collection, ref, type Database, type Session } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'joined-office' })
class Office {
  @Key() id!: number
  @OneToMany(() => Clerk, 'office', { strategy: 'secondaryIndex', onDelete: 'cascade' }) clerks = collection<Clerk>()
}

@Record({ set: 'joined-clerk' })
class Clerk {
  @Key() id!: number
  @ManyToOne(() => Office, 'clerks') office = ref<Office>()
}

@Record({ set: 'joined-user' })
class User {
  @Key() id!: number
  @OneToOne(() => Face, 'user', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' }) face = ref<Face>()
}

@Record({ set: 'joined-face' })
class Face {
  @Key() id!: number
  @OneToOne(() => User, 'face', { strategy: 'sharedKey', onDelete: 'restrict' }) user = ref<User>()
}

const CLASSES = [Office, Clerk, User, Face]
const MISSING = 99
type Join = (session: Session) => Promise<unknown>

for (const mode of MODES) {
  describe(`a child that joins by index while its parent is deleted (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.create(Office, { id: 1 })
        session.create(Clerk, { id: 2 })
        session.create(User, { id: 1 })
        return Promise.resolve()
      })
    })
    afterEach(() => server.embedded?.faults.clear())

    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) found.push(message)
      return found
    }
    const JOINS: Readonly<globalThis.Record<string, Join>> = {
      'a new one': (session) => Promise.resolve(session.create(Clerk, { id: 1 }).office.set(1)),
      'one that is there': async (session) => (await session.load(Clerk, 2)).office.set(1),
      'one by its key': (session) => Promise.resolve(session.at(Office, 1).collection('clerks').add(2)),
      'a new one in the collection': (session) =>
        Promise.resolve(
          session
            .at(Office, 1)
            .collection('clerks')
            .add(Object.assign(new Clerk(), { id: 1 })),
        ),
    }
    for (const [name, join] of Object.entries(JOINS)) {
      for (const kind of ['txn-commit', 'delete'] as const) {
        it(`goes with it, or is rolled back: ${name}, at the ${kind}`, async function () {
          const fault = await addFault(this, server, { kind, delay: 200 })
          const deleting = db.session().delete(Office, 1)
          await untilHit(fault, deleting)
          const session = db.session()
          await join(session)
          await session.flush().catch(() => undefined)
          expect(await deleting).to.equal(true)
          expect(await findings()).to.deep.equal([])
        })
      }
    }

    for (const kind of ['txn-commit', 'delete'] as const) {
      it(`goes with it, or is rolled back: one that shares its key, at the ${kind}`, async function () {
        const fault = await addFault(this, server, { kind, delay: 200 })
        const deleting = db.session().delete(User, 1)
        await untilHit(fault, deleting)
        const session = db.session()
        session.create(Face, { id: 1 }).user.set(1)
        await session.flush().catch(() => undefined)
        expect(await deleting).to.equal(true)
        expect(await db.session().find(Face, 1)).to.equal(null)
      })
    }

    it('may share the key of a parent that is there', async () => {
      const session = db.session()
      session.create(Face, { id: 1 }).user.set(1)
      await session.flush()
      expect((await db.session().load(User, 1, { with: ['face'] })).face.value?.id).to.equal(1)
    })

    for (const [name, join] of Object.entries({
      'in the collection of its key': (session: Session, clerk: Clerk) =>
        session.at(Office, MISSING).collection('clerks').add(clerk),
      'by its reference': (session: Session, clerk: Clerk) => session.persist(clerk).office.set(MISSING),
    })) {
      it(`is not stored as an orphan where there are transactions and the parent does not exist, ${name}`, async () => {
        const session = db.session()
        const clerk = Object.assign(new Clerk(), { id: 1 })
        join(session, clerk)
        await rejection(() => session.flush())
        expect(session.isDirty()).to.equal(true)
        const stored = await db.session().find(Clerk, 1)
        expect(stored?.office.key ?? null).to.equal(null)
        if (mode === 'sc') expect(stored).to.equal(null)
        await db.session().save(Object.assign(new Office(), { id: MISSING }))
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Clerk, 1)).office.key).to.equal(MISSING)
      })
    }
  })
}
