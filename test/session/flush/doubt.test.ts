import { expect } from 'chai'
import { Bin, Counter, Key, PartialFailureError, Record, Version, VersionConflictError, type Database } from 'skein'
import { need, startTestServer } from '../../server.js'
import { Account, Address, CLASSES, Page, Person, Ticket } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

@Record({ set: 'tally' })
class Tally {
  @Key() id!: number
  @Bin() state?: string
  @Counter() count: number = 0
  @Bin({ type: { list: 'string' } }) marks?: string[]
  @Version() version?: number
}

@Record({ set: 'claim' })
class Claim {
  @Key() name!: string
}

const isInDoubt = (error: unknown): boolean =>
  error instanceof PartialFailureError && error.records.every(({ outcome }) => outcome === 'inDoubt')

inEachMode(
  'a write whose answer is lost, while another session makes the same change',
  (bed) => {
    /** The next write to the set never arrives, and nobody is told. */
    const loseNext = (context: Mocha.Context, set: string): Promise<unknown> => {
      const { faults } = need(context, bed().server.embedded, 'only the embedded server makes faults')
      return faults.add({ kind: 'write', set, drop: true, times: 1 })
    }

    async function bothLoaded(): Promise<[Tally, () => Promise<void>, Tally, () => Promise<void>]> {
      const [mine, theirs] = [bed().db.session(), bed().db.session()]
      const { id } = await mine.save(Object.assign(new Tally(), { id: bed().freshNumber(), marks: ['q'] }))
      const [a, b] = [await mine.load(Tally, id), await theirs.load(Tally, id)]
      return [a, () => mine.flush(), b, () => theirs.flush()]
    }

    const stored = (id: number): Promise<Tally> => bed().db.session().load(Tally, id)

    it('is never taken for done when it counts or appends: one of the two would be lost', async function () {
      const [a, saveA, b, saveB] = await bothLoaded()
      for (const one of [a, b]) {
        one.count += 1
        one.marks!.push('z')
      }
      await saveB()
      await loseNext(this, 'tally')
      const error = await rejection(saveA)
      expect(isInDoubt(error), String(error)).to.equal(true)
      expect((error as Error).message).to.contain('refresh the entity')
      expect(await rejection(saveA)).to.be.instanceOf(VersionConflictError)
      expect(await stored(a.id)).to.deep.include({ count: 1, marks: ['q', 'z'], version: 2 })
    })

    it('is not taken for done under a version: both would believe that they were first', async function () {
      const [a, saveA, b, saveB] = await bothLoaded()
      a.state = b.state = 'taken'
      await saveB()
      await loseNext(this, 'tally')
      expect(isInDoubt(await rejection(saveA))).to.equal(true)
      // The record is as wanted, and that is all that a second flush is asked for.
      await saveA()
      expect([a.version, (await stored(a.id)).version]).to.deep.equal([2, 2])
    })

    it('is not taken for done when it creates: both would believe that it is theirs', async function () {
      const name = bed().fresh()
      await bed().db.session().save(Object.assign(new Claim(), { name }))
      await loseNext(this, 'claim')
      const session = bed().db.session()
      session.create(Claim, { name })
      expect(isInDoubt(await rejection(() => session.flush()))).to.equal(true)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
    })

    it('is found out about at once when its key was made for it, which nobody else can have', async function () {
      const { faults } = need(this, bed().server.embedded, 'only the embedded server makes faults')
      await faults.add({ kind: 'write', set: 'ticket', drop: true, after: true, times: 1 })
      const ticket = await bed()
        .db.session()
        .save(Object.assign(new Ticket(), { title: 'mine' }))
      expect((await bed().db.session().load(Ticket, ticket.id)).title).to.equal('mine')
    })
  },
  { entities: [...CLASSES, Tally, Claim] },
)

// The client shows time to live by its own clock: no other test may have moved the server's.
inEachMode(
  'an entity of which a write is in doubt',
  (bed) => {
    let db: Database
    before(async () => {
      db = await bed().open({ retry: { attempts: 1 } })
    })

    /** Sends a write whose answer is lost, and that cannot be read afterwards. */
    async function lose(
      context: Mocha.Context,
      set: string,
      happens: boolean,
      send: () => Promise<unknown>,
    ): Promise<void> {
      const { faults } = need(context, bed().server.embedded, 'only the embedded server makes faults')
      await faults.add({ kind: ['write', 'delete'], set, drop: true, after: happens, times: 1 })
      await faults.add({ set, answer: 18, times: 1000 })
      const error = await rejection(send)
      await faults.clear()
      expect(isInDoubt(error), String(error)).to.equal(true)
    }

    for (const happens of [true, false]) {
      const happened = happens ? 'that took effect' : 'that did not take effect'

      it(`stores what it is when a change ${happened} is undone`, async function () {
        const session = db.session()
        const home = Object.assign(new Address(), { street: 'Main', city: 'Lund' })
        const values = { id: bed().fresh(), name: 'Ada', tags: ['a', 'b'], roles: new Set(['x']), home }
        const person = await session.save(Object.assign(new Person(), values))
        Object.assign(person, { name: 'Eve', age: 3, tags: ['b'] })
        person.roles.add('y')
        person.home.city = 'Kiel'
        await lose(this, 'person', happens, () => session.save(person))
        Object.assign(person, { name: 'Ada', age: undefined, tags: ['a', 'b'] })
        person.roles = new Set(['x', 'z'])
        person.home.city = 'Lund'
        expect(session.isDirty(person)).to.equal(true)
        expect(session.changes(person).properties).to.include.members(['name', 'age', 'tags', 'roles', 'home'])
        await session.save(person)
        expect(session.isDirty(person)).to.equal(false)
        const stored = await bed().db.session().load(Person, person.id)
        expect(stored).to.deep.include({ name: 'Ada', age: undefined, tags: ['a', 'b'], roles: new Set(['x', 'z']) })
        expect(stored.home).to.deep.include({ street: 'Main', city: 'Lund' })
      })

      it(`stores what it is when a versioned change ${happened} is undone`, async function () {
        const session = db.session()
        const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
        account.balance = 5
        await lose(this, 'account', happens, () => session.flush())
        account.balance = 0
        expect(session.isDirty(account)).to.equal(true)
        await session.flush()
        const stored = await bed().db.session().load(Account, account.id)
        expect([stored.balance, stored.version]).to.deep.equal([0, account.version])
      })

      it(`leaves what others have changed meanwhile when a change ${happened} is undone`, async function () {
        const session = db.session()
        const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada', age: 1 }))
        person.name = 'Eve'
        await lose(this, 'person', happens, () => session.save(person))
        const other = bed().db.session()
        const theirs = await other.load(Person, person.id)
        theirs.age = 2
        await other.flush()
        person.name = 'Ada'
        await session.flush()
        expect(await bed().db.session().load(Person, person.id)).to.include({ name: 'Ada', age: 2 })
      })

      it(`stores what it is when a change beside an increment ${happened} is undone`, async function () {
        const session = db.session()
        const page = await session.save(Object.assign(new Page(), { path: bed().fresh(), title: 'old', views: 1 }))
        page.views += 5
        page.title = 'new'
        await lose(this, 'page', happens, () => session.flush())
        page.title = 'old'
        await session.flush()
        expect(session.isDirty(page)).to.equal(false)
        const stored = await bed().db.session().load(Page, page.path)
        expect([stored.title, stored.views]).to.deep.equal(['old', happens ? 6 : 1])
      })

      it(`gets the expiry that it shows when another one ${happened} is undone`, async function () {
        const session = db.session()
        const ticket = await session.save(Object.assign(new Ticket(), { title: 'mine', ttl: 100 }))
        ticket.ttl = 5_000_000
        await lose(this, 'ticket', happens, () => session.flush())
        ticket.ttl = 100
        await session.flush()
        expect((await bed().db.session().load(Ticket, ticket.id)).ttl).to.be.below(1_000_000)
        expect(session.isDirty(ticket)).to.equal(false)
      })

      it(`gets the expiry that it shows when another one ${happened} is undone before the answer is lost`, async function () {
        const session = db.session()
        const ticket = await session.save(Object.assign(new Ticket(), { title: 'mine', ttl: 100 }))
        ticket.ttl = 5_000_000
        await lose(this, 'ticket', happens, () => {
          const saving = session.save(ticket)
          ticket.ttl = 100
          return saving
        })
        await session.flush()
        expect((await bed().db.session().load(Ticket, ticket.id)).ttl).to.be.below(1_000_000)
        expect(session.isDirty(ticket)).to.equal(false)
      })

      it(`is stored when it is saved after a delete ${happened}`, async function () {
        const session = db.session()
        const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
        await lose(this, 'account', happens, () => session.delete(account))
        await session.save(account)
        expect(session.isDirty(account)).to.equal(false)
        account.balance = 5
        await session.save(account)
        const stored = await bed().db.session().load(Account, account.id)
        expect([stored.owner, stored.balance, stored.version]).to.deep.equal(['Ada', 5, 2])
      })

      it(`knows of an earlier doubt when it is saved after a delete ${happened}`, async function () {
        const session = db.session()
        const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' }))
        person.name = 'Eve'
        await lose(this, 'person', true, () => session.save(person))
        await lose(this, 'person', happens, () => session.delete(person))
        person.name = 'Ada'
        await session.save(person)
        expect((await bed().db.session().load(Person, person.id)).name).to.equal('Ada')
      })

      it(`is deleted after an upsert ${happened}`, async function () {
        const session = db.session()
        const [plain, versioned] = [new Person(), new Account()]
        Object.assign(plain, { id: bed().fresh(), name: 'Ada' })
        Object.assign(versioned, { id: bed().freshNumber(), owner: 'Ada' })
        await lose(this, 'person', happens, () => session.upsert(plain))
        await lose(this, 'account', happens, () => session.upsert(versioned))
        expect([await session.delete(plain), await session.delete(versioned)]).to.deep.equal([happens, happens])
        expect(await bed().db.session().find(Person, plain.id)).to.equal(null)
        expect(await bed().db.session().find(Account, versioned.id)).to.equal(null)
      })

      it(`is deleted, stored and versioned, after an upsert ${happened}`, async function () {
        const session = db.session()
        const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
        account.balance = 5
        await lose(this, 'account', happens, () => session.upsert(account))
        session.remove(account)
        await session.flush()
        expect(await bed().db.session().find(Account, account.id)).to.equal(null)
      })

      it(`is deleted after a creation ${happened}`, async function () {
        const session = db.session()
        const account = session.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
        await lose(this, 'account', happens, () => session.flush())
        expect(await session.delete(account)).to.equal(happens)
        expect(await bed().db.session().find(Account, account.id)).to.equal(null)
        await session.flush()
      })
    }

    it('is not deleted after an upsert that somebody has changed since', async function () {
      const session = db.session()
      const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
      await lose(this, 'account', true, () => session.upsert(account))
      const other = bed().db.session()
      const theirs = await other.load(Account, account.id)
      theirs.owner = 'Eve'
      await other.flush()
      expect(await rejection(() => session.delete(account))).to.be.instanceOf(VersionConflictError)
    })

    it('lets a record stay that is not its own when it is deleted after a creation', async function () {
      const session = db.session()
      const account = session.create(Account, { id: bed().freshNumber(), owner: 'mine' })
      const person = session.create(Person, { id: bed().fresh(), name: 'mine' })
      await lose(this, 'account', false, () => session.save(account))
      await lose(this, 'person', false, () => session.save(person))
      const other = bed().db.session()
      await other.save(Object.assign(new Account(), { id: account.id, owner: 'theirs' }))
      await other.save(Object.assign(new Person(), { id: person.id, name: 'theirs' }))
      expect([await session.delete(account), await session.delete(person)]).to.deep.equal([false, false])
      expect(session.isDirty()).to.equal(false)
      const fresh = bed().db.session()
      expect((await fresh.load(Account, account.id)).owner).to.equal('theirs')
      expect((await fresh.load(Person, person.id)).name).to.equal('theirs')
      expect(await session.delete(Person, person.id)).to.equal(true)
    })

    it('is deleted by its key whatever is there', async function () {
      const session = db.session()
      const person = session.create(Person, { id: bed().fresh(), name: 'mine' })
      await lose(this, 'person', false, () => session.flush())
      await bed()
        .db.session()
        .save(Object.assign(new Person(), { id: person.id, name: 'theirs' }))
      expect(await session.delete(Person, person.id)).to.equal(true)
      expect(await bed().db.session().find(Person, person.id)).to.equal(null)
    })
  },
  { entities: [...CLASSES, Tally, Claim] },
  startTestServer,
)
