import { expect } from 'chai'
import {
  AlreadyExistsError,
  EntityGoneError,
  PartialFailureError,
  VersionConflictError,
  type Database,
  type SkeinError,
} from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { need } from '../../server.js'
import { Account, Page, Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

const states = (error: PartialFailureError): unknown => error.records.map(({ key, outcome }) => [key, outcome])

inEachMode('a flush that fails part of the way', (bed) => {
  it('lists every record, keeps what was written, and is completed by a second flush', async () => {
    const session = bed().db.session()
    const [a, b, c] = ['A', 'B', 'C'].map((name) => session.create(Person, { id: bed().fresh(), name }))
    await session.flush()
    await bed().db.session().delete(Person, b.id)
    a.name = 'A2'
    b.name = 'B2'
    session.remove(c)
    const d = session.create(Person, { id: bed().fresh(), name: 'D' })

    const error = (await rejection(() => session.flush())) as PartialFailureError
    expect(error).to.be.instanceOf(PartialFailureError)
    expect(states(error)).to.deep.equal([
      [a.id, 'written'],
      [b.id, 'notWritten'],
      [d.id, 'written'],
      [c.id, 'written'],
    ])
    expect(error.cause).to.be.instanceOf(EntityGoneError)
    expect(error.records[1].cause).to.be.instanceOf(EntityGoneError)
    expect(error.message).to.contain('1 of 4 records').and.contain(b.id)

    expect([a, b, d].map((one) => session.isDirty(one))).to.deep.equal([false, true, false])
    expect((await session.explain()).commands).to.have.length(1)
    const names = await bed().db.session().findMany(Person, [a.id, b.id, c.id, d.id])
    expect(names.map((one) => one?.name)).to.deep.equal(['A2', undefined, undefined, 'D'])

    await bed()
      .db.session()
      .save(Object.assign(new Person(), { id: b.id, name: 'back' }))
    await session.flush()
    expect((await bed().db.session().load(Person, b.id)).name).to.equal('B2')
  })

  it('gives the record\u2019s own error when there is only one', async () => {
    const session = bed().db.session()
    const one = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
    const other = bed().db.session()
    const same = await other.load(Account, one.id)
    same.balance = 1
    await other.flush()
    one.balance = 2
    expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
  })

  it('a record that is too large is refused with its size and the advice', async () => {
    const person = Object.assign(new Person(), { id: bed().fresh(), name: 'x'.repeat(1_200_000) })
    const error = (await rejection(() => bed().db.session().save(person))) as SkeinError & { limit: number }
    expect([error.name, error.limit]).to.deep.equal(['RecordTooLargeError', 1024 * 1024])
  })
})

inEachMode('a write whose answer is lost for good', (bed) => {
  /** Everything about a record is dropped after it took effect, and cannot be read back either. */
  async function lose(
    context: Mocha.Context,
    set: string,
    after: boolean,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const { faults } = need(context, bed().server.embedded, 'only the embedded server makes faults')
    const fault: FaultOptions = { kind: ['write', 'delete'], set, drop: true, after, times: 1 }
    await faults.add(fault)
    await faults.add({ set, answer: 18, times: 1000 })
    const error = await rejection(work)
    await faults.clear()
    return error
  }

  let db: Database
  before(async () => {
    db = await bed().open({ retry: { attempts: 1 } })
  })

  for (const after of [true, false]) {
    const happened = after ? 'that took effect' : 'that did not take effect'

    it(`a creation ${happened} is completed by the next flush`, async function () {
      const session = db.session()
      const account = Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' })
      const error = await lose(this, 'account', after, () => session.save(account))
      expect(error).to.be.instanceOf(PartialFailureError)
      expect(states(error as PartialFailureError)).to.deep.equal([[account.id, 'inDoubt']])
      expect(account.version).to.equal(undefined)
      account.balance = 7
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const stored = await bed().db.session().load(Account, account.id)
      expect([stored.balance, stored.version]).to.deep.equal([7, account.version])
    })

    it(`a versioned update ${happened} is completed by the next flush`, async function () {
      const session = db.session()
      const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
      account.balance = 5
      const error = await lose(this, 'account', after, () => session.flush())
      expect(states(error as PartialFailureError)).to.deep.equal([[account.id, 'inDoubt']])
      await session.flush()
      const stored = await bed().db.session().load(Account, account.id)
      expect([stored.balance, stored.version, account.version]).to.deep.equal([5, 2, 2])
    })

    it(`a plain update ${happened} is simply sent again`, async function () {
      const session = db.session()
      const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' }))
      person.name = 'Eve'
      await lose(this, 'person', after, () => session.flush())
      expect(session.isDirty(person)).to.equal(true)
      await session.flush()
      expect((await bed().db.session().load(Person, person.id)).name).to.equal('Eve')
    })

    it(`a delete ${happened} is completed by the next flush`, async function () {
      const session = db.session()
      const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
      session.remove(account)
      await lose(this, 'account', after, () => session.flush())
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await bed().db.session().find(Account, account.id)).to.equal(null)
    })

    it(`an increment ${happened} is reported and never sent again`, async function () {
      const session = db.session()
      const page = await session.save(Object.assign(new Page(), { path: bed().fresh(), views: 1 }))
      page.views += 5
      page.title = 'new'
      const error = await lose(this, 'page', after, () => session.flush())
      expect(states(error as PartialFailureError)).to.deep.equal([[page.path, 'inDoubt']])
      expect((error as SkeinError).message)
        .to.contain('refresh the entity')
        .and.not.contain('Flush again')
      expect(session.changes(page).properties).to.deep.equal(['title'])
      await session.flush()
      page.views += 10
      await session.flush()
      const stored = await bed().db.session().load(Page, page.path)
      expect([stored.title, stored.views]).to.deep.equal(['new', after ? 16 : 11])
    })
  }

  it('says what is not known and what to do', async function () {
    const { id } = await db.session().save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' }))
    const deleted = (await lose(this, 'person', false, () => db.session().delete(Person, id))) as SkeinError
    expect(deleted.message).to.contain('1 of 1 records may or may not have been written').and.contain('Delete it again')
    expect(await db.session().delete(Person, id)).to.equal(true)
  })

  it('of a creation that somebody has changed since is refused until the entity is refreshed', async function () {
    const session = db.session()
    const account = Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' })
    await lose(this, 'account', true, () => session.save(account))
    const other = bed().db.session()
    const theirs = await other.load(Account, account.id)
    theirs.owner = 'Eve'
    await other.flush()
    expect(await rejection(() => session.flush())).to.be.instanceOf(AlreadyExistsError)
    await session.refresh(account)
    account.balance = 1
    await session.flush()
    expect(await bed().db.session().load(Account, account.id)).to.include({ owner: 'Eve', balance: 1, version: 3 })
  })

  it('is a conflict when somebody else came between', async function () {
    const session = db.session()
    const account = await session.save(Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' }))
    account.balance = 5
    await lose(this, 'account', false, () => session.flush())
    const other = bed().db.session()
    const theirs = await other.load(Account, account.id)
    theirs.owner = 'Eve'
    await other.flush()
    expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
    expect((await bed().db.session().load(Account, account.id)).balance).to.equal(0)
  })
})
