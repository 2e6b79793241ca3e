import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import {
  AlreadyExistsError,
  CommitInDoubtError,
  PartialFailureError,
  RetriesExhaustedError,
  SkeinError,
  type Database,
} from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'
import { Person } from '../session/models.js'
import { needMode } from '../server.js'
import { Bed, rejection } from './bed.js'

describe('db.transaction', () => {
  let bed: Bed
  let db: Database
  before(async function () {
    bed = await Bed.start(this)
    db = await bed.open()
  })
  after(() => bed?.stop())
  afterEach(async () => expect(await bed.calm()).to.not.include(0))

  const person = (id: string, age = 1): Person => Object.assign(new Person(), { id, name: `name of ${id}`, age })
  const key = (): string => `p${bed.fresh()}`

  it('commits what the function saved and what it only changed', async () => {
    const [a, b] = [key(), key()]
    const result = await db.transaction(async (session) => {
      await session.save(person(a))
      session.persist(person(b))
      return 'done'
    })
    expect(result).to.equal('done')
    expect((await db.read(Person, [a, b])).map((one) => one?.id)).to.deep.equal([a, b])
  })

  it('shows its own writes inside and nothing of them outside', async () => {
    const a = key()
    await db.transaction(async (session) => {
      const one = await session.save(person(a, 1))
      one.age = 2
      await session.flush()
      session.clear()
      expect((await session.load(Person, a)).age).to.equal(2)
      expect(await db.read(Person, [a])).to.deep.equal([null])
    })
    expect((await db.session().load(Person, a)).age).to.equal(2)
  })

  it("undoes everything on the function's own error and throws it as it is", async () => {
    const [a, b] = [key(), key()]
    await db.session().save(person(b, 1))
    const own = new Error('my own')
    let calls = 0
    const thrown = await rejection(
      db.transaction(async (session) => {
        calls++
        await session.save(person(a))
        await session.delete(Person, b)
        throw own
      }),
    )
    expect(thrown).to.equal(own)
    expect(calls).to.equal(1)
    expect((await db.read(Person, [a, b])).map((one) => one?.age)).to.deep.equal([undefined, 1])
  })

  it('throws what a save throws, and undoes the rest', async () => {
    const [a, b] = [key(), key()]
    await db.session().save(person(b))
    const thrown = await rejection(
      db.transaction(async (session) => {
        await session.save(person(a))
        await session.save(person(b))
      }),
    )
    expect(thrown).to.be.instanceOf(AlreadyExistsError)
    expect(await db.read(Person, [a])).to.deep.equal([null])
  })

  it('runs again with a fresh session when a record it read was changed meanwhile', async () => {
    const a = key()
    await db.session().save(person(a, 1))
    const seen: (number | undefined)[] = []
    await db.transaction(async (session) => {
      const one = await session.load(Person, a)
      seen.push(one.age)
      if (seen.length === 1) {
        const other = db.session()
        ;(await other.load(Person, a)).age = 10
        await other.flush()
      }
      one.age! += 1
    })
    expect(seen).to.deep.equal([1, 10])
    expect((await db.session().load(Person, a)).age).to.equal(11)
  })

  it('counts correctly however many transactions add to one record', async () => {
    const a = key()
    await db.session().save(person(a, 0))
    let calls = 0
    const add = (): Promise<void> =>
      db.transaction(
        async (session) => {
          calls++
          ;(await session.load(Person, a)).age! += 1
        },
        { attempts: 100 },
      )
    await Promise.all(Array.from({ length: 16 }, add))
    expect((await db.session().load(Person, a)).age).to.equal(16)
    expect(calls).to.be.greaterThan(16)
  })

  for (const code of [120, 121, 122, 9, 14, 18]) {
    it(`is tried again when a write answers ${code}`, async function () {
      const a = key()
      await bed.disturb(this, { kind: 'write', set: 'person', answer: code })
      let calls = 0
      await db.transaction(async (session) => {
        calls++
        await session.save(person(a))
      })
      expect(calls).to.equal(2)
      expect((await db.read(Person, [a]))[0]?.id).to.equal(a)
    })
  }

  it('is tried again when a read meets the record of another transaction', async function () {
    const a = key()
    await db.session().save(person(a))
    await bed.disturb(this, { kind: 'read', set: 'person', answer: 120 })
    let calls = 0
    await db.transaction(async (session) => {
      calls++
      await session.load(Person, a)
    })
    expect(calls).to.equal(2)
  })

  it('is not tried again after a time-out when the abort did not succeed', async function () {
    const a = key()
    await bed.disturb(this, { kind: 'write', set: 'person', skip: 1, answer: 9 })
    await bed.disturb(this, { kind: 'txn-roll-back', answer: 9, times: 100 })
    let calls = 0
    const thrown = await rejection<PartialFailureError>(
      db.transaction(async (session) => {
        calls++
        await session.save(person(key()))
        await session.save(person(a))
      }),
    )
    expect(thrown.records.map(({ outcome }) => outcome)).to.deep.equal(['inDoubt'])
    expect(calls).to.equal(1)
  })

  it('gives up after the given number of attempts, with the last error as cause', async function () {
    const a = key()
    await bed.disturb(this, { kind: 'write', set: 'person', answer: 120, times: 3 })
    const thrown = await rejection<RetriesExhaustedError>(
      db.transaction((session) => session.save(person(a)), { attempts: 3 }),
    )
    expect(thrown).to.be.instanceOf(RetriesExhaustedError)
    expect(thrown.attempts).to.equal(3)
    expect((thrown.cause as SkeinError).code).to.equal('SKEIN_4305')
  })

  it('repeats a commit whose answer was lost, and does not run the function again', async function () {
    const a = key()
    await bed.disturb(this, { kind: 'txn-commit', drop: true, after: true })
    let calls = 0
    await db.transaction(async (session) => {
      calls++
      await session.save(person(a))
    })
    expect(calls).to.equal(1)
    expect((await db.read(Person, [a]))[0]?.id).to.equal(a)
  })

  it('says so when a commit stays in doubt, and has not aborted it', async function () {
    const a = key()
    await bed.disturb(this, { kind: 'txn-commit', drop: true, after: true, times: 1000 })
    const kinds = await bed.commandsOf(async () => {
      const thrown = await rejection(db.transaction((session) => session.save(person(a)), { timeout: 1 }))
      expect(thrown).to.be.instanceOf(CommitInDoubtError)
    })
    expect(kinds).to.not.include('txn-roll-back')
  })

  it('is joined by session.transaction inside it', async () => {
    const [a, b] = [key(), key()]
    const thrown = await rejection(
      db.transaction(async (session) => {
        await session.transaction(async (inner) => {
          expect(inner).to.equal(session)
          await inner.save(person(a))
        })
        await session.save(person(b))
        throw new Error('undo both')
      }),
    )
    expect(thrown.message).to.equal('undo both')
    expect(await db.read(Person, [a, b])).to.deep.equal([null, null])
  })

  it('is begun by session.transaction outside of one, with a session of its own', async () => {
    const a = key()
    const session = db.session()
    await session.transaction(async (inner) => {
      expect(inner).to.not.equal(session)
      await inner.save(person(a))
    })
    expect((await session.load(Person, a)).id).to.equal(a)
  })

  it('refuses what cannot take part, unless told to do it outside', async () => {
    const thrown = await rejection<SkeinError>(db.transaction(() => db.truncate(User)))
    expect(thrown.code).to.equal('SKEIN_2313')
    await db.transaction(() => db.truncate(User, { outsideTransaction: true }))
    await db.truncate(User)
  })

  it('is refused in a namespace that has none, before the function runs', async function () {
    const namespace = needMode(this, bed.server, 'ap')
    let calls = 0
    const work = async (): Promise<void> => void calls++
    expect((await rejection<SkeinError>(db.transaction(work, { namespace }))).code).to.equal('SKEIN_4301')
    expect(calls).to.equal(0)
  })

  it('is refused with attempts or a timeout that make no sense, before the function runs', async () => {
    let calls = 0
    const work = async (): Promise<void> => void calls++
    expect((await rejection<SkeinError>(db.transaction(work, { attempts: 0 }))).code).to.equal('SKEIN_2314')
    expect((await rejection<SkeinError>(db.transaction(work, { timeout: 0.5 }))).code).to.equal('SKEIN_2314')
    expect(calls).to.equal(0)
  })

  it('tells when it has ended', async () => {
    const states: string[] = []
    const listen = (event: unknown): void => void states.push((event as { state: string }).state)
    subscribe('skein:transaction', listen)
    await db.transaction((session) => session.save(person(key())))
    await rejection(db.transaction(() => Promise.reject(new Error('no'))))
    unsubscribe('skein:transaction', listen)
    expect(states).to.deep.equal(['committed', 'aborted'])
  })

  it('links entities made before it, also when the first attempt fails', async function () {
    const [id, child] = [bed.fresh(), `l${bed.fresh()}`]
    const alma = agent(id)
    alma.listings.add(listing(child))
    await bed.disturb(this, { kind: 'txn-verify', answer: 121 })
    let calls = 0
    await db.session().save(person(`r${id}`))
    await db.transaction(async (session) => {
      calls++
      await session.load(Person, `r${id}`)
      await session.save(alma)
    })
    expect(calls).to.equal(2)
    const found = await db.session().load(Agent, id, { with: ['listings'] })
    expect(found.listings.items.map((one) => one.id)).to.deep.equal([child])
    expect((await db.session().load(Listing, child)).agent.key).to.equal(id)
  })

  it('moves a child that another session has moved since it was loaded, and both lists are right', async () => {
    const [a, b, c] = [bed.fresh(), bed.fresh(), bed.fresh()]
    const child = `l${bed.fresh()}`
    const session = db.session()
    const first = session.persist(agent(a))
    first.listings.add(listing(child))
    session.persist(agent(b))
    session.persist(agent(c))
    await session.flush()
    let calls = 0
    await db.transaction(async (inner) => {
      calls++
      const [to] = await inner.loadMany(Agent, [c])
      if (calls === 1) {
        const other = db.session()
        ;(await other.load(Listing, child)).agent.set(b)
        await other.flush()
      }
      // By key: nobody has loaded the child here.
      to.listings.add(child)
    })
    const found = await db.session().loadMany(Agent, [a, b, c], { with: ['listings'] })
    expect(found.map((one) => one.listings.items.map(({ id }) => id))).to.deep.equal([[], [], [child]])
  })

  it('cascades a delete', async () => {
    const id = bed.fresh()
    const alma = agent(id)
    const children = [1, 2, 3].map(() => `l${bed.fresh()}`)
    alma.listings.add(...children.map((child) => listing(child)))
    await db.session().save(alma)
    await db.transaction((session) => session.delete(Agent, id))
    expect(await db.read(Listing, children)).to.deep.equal([null, null, null])
    expect(await db.read(Agent, [id])).to.deep.equal([null])
  })

  it('follows and unfollows', async () => {
    const [a, b] = [bed.fresh(), bed.fresh()]
    await db.transaction(async (session) => {
      const [one, two] = [session.persist(user(a)), session.persist(user(b))]
      one.follows.add(two)
    })
    expect(await (await db.session().load(User, b)).followers.keys()).to.deep.equal([a])
    await db.transaction(async (session) => {
      ;(await session.load(User, b)).followers.remove(a)
    })
    expect(await (await db.session().load(User, a)).follows.keys()).to.deep.equal([])
  })
})

describe('db.transaction where there are none', () => {
  let bed: Bed
  before(async function () {
    bed = await Bed.start(this, 'ap')
  })
  after(() => bed?.stop())

  it('is refused before the function runs', async () => {
    const db = await bed.open()
    let calls = 0
    const work = async (): Promise<void> => void calls++
    expect((await rejection<SkeinError>(db.transaction(work))).code).to.equal('SKEIN_4301')
    expect(calls).to.equal(0)
  })

  it('refuses to open a database that requires them', async () => {
    const thrown = await rejection<SkeinError>(bed.open({ transactions: 'required' }))
    expect(thrown.code).to.equal('SKEIN_4301')
  })
})
