import { expect } from 'chai'
import { EntityGoneError, type SkeinError } from 'skein'
import { need, startTestServer } from '../../server.js'
import { Account, Lease, Ticket } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('what the mapper keeps by itself', (bed) => {
  const account = (values: Partial<Account> = {}): Account =>
    Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada', ...values })

  it('counts versions from 1, whatever a new entity says', async () => {
    const session = bed().db.session()
    const one = await session.save(account({ version: 77 }))
    expect(one.version).to.equal(1)
    expect(session.isDirty(one)).to.equal(false)
    one.balance = 5
    await session.save(one)
    expect(one.version).to.equal(2)
    expect((await bed().db.session().load(Account, one.id)).version).to.equal(2)
  })

  it('sets the times when they are written', async () => {
    const session = bed().db.session()
    const began = Date.now()
    const one = await session.save(account())
    const { createdAt, updatedAt } = one
    expect(createdAt!.getTime()).to.be.at.least(began)
    expect(updatedAt).to.deep.equal(createdAt)
    one.balance = 1
    await session.save(one)
    expect(one.createdAt).to.equal(createdAt)
    expect(one.updatedAt!.getTime()).to.be.at.least(updatedAt!.getTime())
    const again = await bed().db.session().load(Account, one.id)
    expect([again.createdAt, again.updatedAt]).to.deep.equal([one.createdAt, one.updatedAt])
  })

  it('keeps a time of creation that the entity brings along', async () => {
    const createdAt = new Date(1000)
    const one = await bed().db.session().save(account({ createdAt }))
    expect((await bed().db.session().load(Account, one.id)).createdAt).to.deep.equal(createdAt)
  })

  it('sets nothing when the write fails', async () => {
    const { id } = await bed().db.session().save(account())
    const again = account({ id })
    await rejection(() => bed().db.session().save(again))
    expect([again.version, again.createdAt, again.updatedAt]).to.deep.equal([undefined, undefined, undefined])
  })

  it('shows the generation of the record', async () => {
    const session = bed().db.session()
    const one = await session.save(account())
    expect((await bed().db.session().load(Account, one.id)).generation).to.equal(1)
    one.balance = 1
    await session.save(one)
    expect((await bed().db.session().load(Account, one.id)).generation).to.equal(2)
    await session.refresh(one)
    expect(one.generation).to.equal(2)
  })

  it('takes over a record that had no version yet', async () => {
    const { id } = await bed().db.session().save(account())
    const key = { ns: bed().namespace, set: 'account', key: id }
    await bed().db.client.put(key, { version: null } as never)
    const session = bed().db.session()
    const one = await session.load(Account, id)
    one.balance = 3
    await session.save(one)
    expect((await bed().db.session().load(Account, id)).version).to.equal(1)
  })

  it('generates ids when an entity is taken in', () => {
    const session = bed().db.session()
    expect(session.create(Ticket, { title: 'x' }).id).to.match(/^[0-9a-f-]{36}$/)
    expect(session.create(Lease, { holder: 'x' }).id).to.match(/^[0-9A-Z]{26}$/)
    expect(session.create(Ticket, { id: 'mine', title: 'x' }).id).to.equal('mine')
  })
})

// The client shows time to live by its own clock: no other test may have moved the server's.
inEachMode(
  'time to live',
  (bed) => {
    const ticket = (values: Partial<Ticket> = {}): Ticket => Object.assign(new Ticket(), { title: 'x', ...values })
    const isThere = async (id: string): Promise<boolean> => (await bed().db.session().find(Ticket, id)) !== null
    const advance = (context: Mocha.Context, seconds: number): Promise<void> =>
      need(context, bed().server.embedded, 'only the embedded server has a clock to move').clock.advance(seconds)

    it('is that of the class, and shown by the entity', async function () {
      const session = bed().db.session()
      const one = await session.save(ticket())
      expect(one.ttl).to.equal(100)
      expect((await bed().db.session().load(Ticket, one.id)).ttl).to.be.within(80, 100)
      await advance(this, 80)
      expect(await isThere(one.id)).to.equal(true)
      await advance(this, 21)
      expect(await isThere(one.id)).to.equal(false)
    })

    it('of one entity, or of one save, goes before it', async function () {
      const own = await bed()
        .db.session()
        .save(ticket({ ttl: 20 }))
      const given = await bed()
        .db.session()
        .save(ticket({ ttl: 20 }), { ttl: 50 })
      const never = await bed().db.session().save(ticket(), { ttl: 'never' })
      await advance(this, 30)
      expect([await isThere(own.id), await isThere(given.id)]).to.deep.equal([false, true])
      await advance(this, 30)
      expect([await isThere(given.id), await isThere(never.id)]).to.deep.equal([false, true])
      await advance(this, 1000)
      expect(await isThere(never.id)).to.equal(true)
      expect((await bed().db.session().load(Ticket, never.id)).ttl).to.equal(null)
    })

    it('is kept by an update', async function () {
      const session = bed().db.session()
      const one = await session.save(ticket())
      await advance(this, 60)
      one.title = 'changed'
      await session.save(one)
      await advance(this, 50)
      expect(await isThere(one.id)).to.equal(false)
    })

    it('begins again where the class says so', async function () {
      const session = bed().db.session()
      const one = await session.save(Object.assign(new Lease(), { holder: 'x' }))
      await advance(this, 60)
      one.holder = 'y'
      await session.save(one)
      await advance(this, 60)
      expect(await bed().db.session().find(Lease, one.id)).to.not.equal(null)
      await advance(this, 60)
      expect(await bed().db.session().find(Lease, one.id)).to.equal(null)
    })

    it('can be changed alone', async function () {
      const session = bed().db.session()
      const [a, b, c] = [await session.save(ticket()), await session.save(ticket()), await session.save(ticket())]
      a.ttl = 500
      expect(session.isDirty(a)).to.equal(true)
      await session.flush()
      expect(session.isDirty(a)).to.equal(false)
      await session.save(b, { ttl: 500 })
      c.ttl = undefined
      await session.save(c)
      await advance(this, 400)
      expect([await isThere(a.id), await isThere(b.id), await isThere(c.id)]).to.deep.equal([true, true, true])
      await advance(this, 200)
      expect([await isThere(a.id), await isThere(b.id), await isThere(c.id)]).to.deep.equal([false, false, true])
      a.ttl = 7
      expect(await rejection(() => session.save(a))).to.be.instanceOf(EntityGoneError)
    })

    it('that was refused is not remembered', async () => {
      const session = bed().db.session()
      const [one, other] = [session.persist(ticket()), session.persist(ticket())]
      await session.flush()
      one.title = 'one'
      for (const store of [() => session.save(one, { ttl: -1 }), () => session.persist(ticket(), { ttl: -1 })])
        expect(((await rejection(store)) as SkeinError).code).to.equal('SKEIN_2309')
      other.title = 'other'
      const { commands } = await session.explain()
      expect(commands).to.have.length(2)
      await session.flush()
      expect((await bed().db.session().load(Ticket, other.id)).title).to.equal('other')
    })

    it('is named among the changes', async () => {
      const session = bed().db.session()
      const one = await session.save(ticket())
      one.ttl = 50
      expect(session.changes(one)).to.deep.equal({ kind: 'update', properties: ['ttl'], operations: [] })
      one.title = 'new'
      expect(session.changes(one).properties).to.deep.equal(['title', 'ttl'])
      await session.save(one)
      expect(session.changes(one).properties).to.deep.equal([])
    })

    it('must be a sensible number', async () => {
      for (const ttl of [0, -1, 1.5, 400_000_000, Number.NaN]) {
        const error = (await rejection(() => bed().db.session().save(ticket({ ttl })))) as SkeinError
        expect(error.code, String(ttl)).to.equal('SKEIN_2309')
      }
    })
  },
  {},
  startTestServer,
)
