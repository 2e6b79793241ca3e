import { expect } from 'chai'
import type { FaultOptions } from 'skein/embedded'
import { need, startTestServer } from '../../server.js'
import { Person, Ticket } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

// The client shows time to live by its own clock: no other test may have moved the server's.
inEachMode(
  'what a call asks of the next write',
  (bed) => {
    const storedTtl = async ({ id }: Ticket): Promise<number | undefined | null> =>
      (await bed().db.session().load(Ticket, id)).ttl
    const stored = (id: string): Promise<Person> => bed().db.session().load(Person, id)
    const aborted = (): AbortSignal => AbortSignal.abort(new Error('enough'))

    async function hold(context: Mocha.Context, fault: FaultOptions): Promise<{ remove(): Promise<unknown> }> {
      const { faults } = need(context, bed().server.embedded, 'only the embedded server can be made to fail')
      return faults.add({ namespace: bed().namespace, ...fault })
    }

    /** A person that this session knows as Ada and somebody else has named Bo since. */
    async function renamed(session = bed().db.session()): Promise<Person> {
      const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada', age: 1 }))
      const theirs = bed().db.session()
      ;(await theirs.load(Person, person.id)).name = 'Bo'
      await theirs.flush()
      return person
    }

    it('is forgotten by a refresh: an upsert that failed overwrites nothing later', async function () {
      const session = bed().db.session()
      const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' }))
      const fault = await hold(this, { kind: 'write', set: 'person', answer: 14, times: Infinity })
      await rejection(() => session.upsert(person))
      await fault.remove()
      await session.refresh(person)
      expect(session.isDirty(person)).to.equal(false)
      await bed().db.withSession(async (other) => void ((await other.load(Person, person.id)).name = 'Bo'))
      await session.flush()
      expect((await stored(person.id)).name).to.equal('Bo')
    })

    it('is done by the next flush when it failed on its way', async function () {
      const session = bed().db.session()
      const ticket = await session.save(Object.assign(new Ticket(), { title: 'a' }))
      const person = await renamed(session)
      const faults = await Promise.all(
        ['person', 'ticket'].map((set) => hold(this, { kind: 'write', set, answer: 14, times: Infinity })),
      )
      await rejection(() => session.upsert(person))
      await rejection(() => session.save(ticket, { ttl: 5000 }))
      for (const fault of faults) await fault.remove()
      await session.flush()
      expect((await stored(person.id)).name).to.equal('Ada')
      expect(await storedTtl(ticket)).to.be.greaterThan(4000)
    })

    it('stays when the refresh was asked for before', async () => {
      const session = bed().db.session()
      const ticket = await session.save(Object.assign(new Ticket(), { title: 'a' }))
      const refresh = session.refresh(ticket)
      session.persist(ticket, { ttl: 5000 })
      await refresh
      await session.flush()
      expect(await storedTtl(ticket)).to.be.greaterThan(4000)
    })

    it('is not taken for done by a write that was made before', async () => {
      const session = bed().db.session()
      const ticket = await session.save(Object.assign(new Ticket(), { title: 'a' }))
      ticket.title = 'b'
      await Promise.all([session.save(ticket), session.save(ticket, { ttl: 5000 })])
      expect(await storedTtl(ticket)).to.be.within(4000, 5000)
      ticket.title = 'c'
      const flush = session.flush()
      session.persist(ticket, { ttl: 9000 })
      await flush
      await session.flush()
      expect(await storedTtl(ticket)).to.be.within(8000, 9000)
    })

    it('lets an upsert overwrite although a save of the same entity is under way', async () => {
      const session = bed().db.session()
      const person = await renamed(session)
      person.age = 2
      await Promise.all([session.save(person), session.upsert(person)])
      expect(await stored(person.id)).to.deep.include({ name: 'Ada', age: 2 })
    })

    it('of an upsert stays asked for by another upsert when one is given up', async function () {
      const session = bed().db.session()
      const { id } = await renamed()
      const other = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Cy' }))
      other.name = 'Di'
      await hold(this, { kind: 'write', set: 'person', delay: 60, times: 1 })
      const flush = session.flush()
      const person = Object.assign(new Person(), { id, name: 'Eve' })
      const stop = new AbortController()
      const first = rejection(() => session.upsert(person, { signal: stop.signal }))
      const second = session.upsert(person)
      const reason = new Error('enough')
      stop.abort(reason)
      await Promise.all([flush, second])
      expect(await first).to.equal(reason)
      expect((await stored(id)).name).to.equal('Eve')
    })

    it('is not done by a flush that went before, once it is given up', async function () {
      const session = bed().db.session()
      const person = await renamed(session)
      const ticket = await session.save(Object.assign(new Ticket(), { title: 'a' }))
      const gone = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Cy' }))
      ticket.title = 'b'
      await hold(this, { kind: 'write', set: 'ticket', delay: 60, times: 1 })
      const flushes = [session.flush(), session.flush()]
      const stop = new AbortController()
      const { signal } = stop
      const calls = [
        rejection(() => session.upsert(person, { signal })),
        rejection(() => session.save(ticket, { signal, ttl: 5000 })),
        rejection(() => session.delete(gone, { signal })),
      ]
      const reason = new Error('enough')
      stop.abort(reason)
      expect(await Promise.all(calls)).to.deep.equal([reason, reason, reason])
      await Promise.all(flushes)
      await session.flush()
      expect((await stored(person.id)).name).to.equal('Bo')
      expect((await stored(gone.id)).name).to.equal('Cy')
      expect(await storedTtl(ticket)).to.be.at.most(100)
    })

    it('is forgotten when the call was refused: no later save gives the time to live of that one', async () => {
      const session = bed().db.session()
      const ticket = await session.save(Object.assign(new Ticket(), { title: 'a' }))
      await rejection(() => session.save(ticket, { ttl: 5000, signal: aborted() }))
      expect(session.isDirty(ticket)).to.equal(false)
      ticket.title = 7 as unknown as string
      await rejection(() => session.save(ticket, { ttl: 5000 }))
      ticket.title = 'b'
      await session.save(ticket)
      expect(await storedTtl(ticket)).to.be.at.most(100)
    })

    it('is kept from an earlier persist when a later save is refused', async () => {
      const session = bed().db.session()
      const ticket = session.persist(Object.assign(new Ticket(), { title: 'a' }), { ttl: 5000 })
      await rejection(() => session.save(ticket, { ttl: 9000, signal: aborted() }))
      await session.flush()
      expect(await storedTtl(ticket)).to.be.within(4000, 5000)
    })
  },
  {},
  startTestServer,
)

inEachMode(
  'a @Ttl property',
  (bed) => {
    it('that is set while the record is created is a change for the next flush', async () => {
      const session = bed().db.session()
      const ticket = Object.assign(new Ticket(), { title: 'a' })
      const save = session.save(ticket)
      ticket.ttl = 5000
      await save
      expect(ticket.ttl).to.equal(5000)
      expect(session.isDirty(ticket)).to.equal(true)
      await session.flush()
      expect((await bed().db.session().load(Ticket, ticket.id)).ttl).to.be.greaterThan(4000)
    })

    it('of a loaded entity that never expires lets an upsert store one that never does', async () => {
      const { id } = await bed()
        .db.session()
        .save(Object.assign(new Ticket(), { title: 'a' }), { ttl: 'never' })
      const session = bed().db.session()
      const ticket = await session.load(Ticket, id)
      await session.upsert(ticket)
      expect((await bed().db.session().load(Ticket, id)).ttl).to.equal(null)
      await session.upsert(Object.assign(ticket, { ttl: 50 }))
      await session.upsert(Object.assign(ticket, { ttl: undefined }))
      expect((await bed().db.session().load(Ticket, id)).ttl).to.equal(null)
    })

    it('of a new entity, left out, lets an upsert give what the class says', async () => {
      const session = bed().db.session()
      const ticket = await session.upsert(Object.assign(new Ticket(), { title: 'a' }))
      expect((await bed().db.session().load(Ticket, ticket.id)).ttl).to.be.within(80, 100)
    })
  },
  {},
  startTestServer,
)
