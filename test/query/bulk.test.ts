import { expect } from 'chai'
import {
  BeforeDelete,
  BeforeSave,
  Bin,
  Counter,
  History,
  Index,
  Key,
  Record,
  UpdatedAt,
  Version,
  inc,
  type BulkProgress,
  type Database,
  type SkeinError,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'
import { ALL, Agent, Listing, Order, listing } from './models.js'

const unique = `qb${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}n` })
class Note {
  @Key() id!: number
  @Index() @Bin() state!: string
  @Index() @Bin({ type: 'int' }) price?: number
  @Bin({ type: 'double' }) weight?: number
  @Index() @Bin({ type: { list: 'string' } }) tags?: string[]
  @Counter() views = 0
  @UpdatedAt() updatedAt?: Date
}

@Record({ set: `${unique}t` })
class Task {
  @Key() id!: number
  @Index() @Bin() state!: string
  @Bin({ type: 'int' }) count = 0
  @Version() version?: number
  saved = 0

  @BeforeSave() touch(): void {
    this.count++
  }

  @BeforeDelete() gone(): void {
    deleted.push(this.id)
  }
}
const deleted: number[] = []

@Record({ set: `${unique}u` })
class Unwritten {
  @Key() id!: number
  @Bin() name!: string
}

@Record({ set: `${unique}l` })
@History({ keep: 3 })
class Logged {
  @Key() id!: number
  @Version() version?: number
  @Bin() name!: string
}

for (const mode of MODES) {
  describe(`bulk updates and deletes (${mode})`, () => {
    let db: Database
    useDatabase(mode, [...ALL, Note, Task, Unwritten, Logged], (opened) => ({ db } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const notes = (count: number): Note[] =>
      Array.from({ length: count }, (_, id) =>
        Object.assign(new Note(), { id, state: id % 2 ? 'open' : 'done', price: id, tags: ['a', 'b'] }),
      )
    const failure = (work: Promise<unknown>): Promise<SkeinError> =>
      work.then(
        () => expect.fail('nothing was thrown'),
        (error: unknown) => error as SkeinError,
      )

    it('say which feature of the class keeps the server from doing it alone', async () => {
      const counted = await db.scan(Note).update({ views: 5 }, { dryRun: true })
      expect(counted).to.include({ by: 'sessions', because: 'views is a @Counter' })
      const listed = await db.scan(Note).update({ tags: ['a'] }, { dryRun: true })
      expect(listed).to.include({ because: 'tags is more than one value' })
      expect(await db.scan(Logged).delete({ dryRun: true })).to.include({ because: 'the class has a @History' })
    })

    it('finds nothing to change in a set that was never written', async () => {
      expect(await db.scan(Unwritten).update({ name: 'x' })).to.deep.equal({ written: 0, failed: 0, by: 'server' })
      expect(await db.scan(Unwritten).delete()).to.deep.equal({ written: 0, failed: 0, by: 'server' })
    })

    it('lets the server change what meets the conditions, and nothing else', async () => {
      await store(...notes(20))
      const before = Date.now()
      const open = db.query(Note).where({ state: 'open' })
      expect(await open.update({ weight: 2, price: inc(100), tags: null }, { dryRun: true })).to.deep.equal({
        written: 10,
        failed: 0,
        by: 'server',
      })
      expect(await db.scan(Note).where({ weight: 2 }).count()).to.equal(0)
      const seen: BulkProgress[] = []
      const result = await open.update(
        { weight: 2, price: inc(100), tags: null, state: 'sold' },
        { onProgress: (progress) => seen.push(progress) },
      )
      expect(result).to.deep.equal({ written: 10, failed: 0, by: 'server' })
      expect(seen.at(-1)).to.deep.equal({ written: 10, share: 1 })
      const [odd, even] = await db.read(Note, [7, 8])
      expect([odd?.price, odd?.weight, odd?.state, odd?.tags]).to.deep.equal([107, 2, 'sold', undefined])
      expect(odd?.updatedAt?.getTime()).to.be.at.least(before)
      expect([even?.price, even?.weight, even?.state]).to.deep.equal([8, undefined, 'done'])
      expect(await open.count()).to.equal(0)
    })

    it('adds once to a record that the index finds again, or by several values', async () => {
      await store(...notes(30))
      expect(
        (
          await db
            .query(Note)
            .where({ price: { gte: 10 } })
            .update({ price: inc(5) })
        ).written,
      ).to.equal(20)
      expect(await db.scan(Note).sum('price')).to.equal(435 + 100)
      expect(
        (
          await db
            .query(Note)
            .where({ tags: { hasAny: ['a', 'b'] } })
            .update({ price: inc(1) })
        ).written,
      ).to.equal(30)
      expect(await db.scan(Note).sum('price')).to.equal(435 + 130)
    })

    it('adds to a counter, and to what is not stored', async () => {
      await store(Object.assign(new Note(), { id: 1, state: 'open' }))
      await db
        .query(Note)
        .where({ state: 'open' })
        .update({ views: inc(3), price: inc(4) })
      const [note] = await db.read(Note, [1])
      expect([note?.views, note?.price]).to.deep.equal([3, 4])
    })

    it('lets the server delete what meets the conditions', async () => {
      await store(...notes(20))
      const old = db.query(Note).where({ price: { lt: 15 }, state: 'done' })
      expect((await old.delete({ dryRun: true })).written).to.equal(8)
      expect(await old.delete()).to.deep.equal({ written: 8, failed: 0, by: 'server' })
      expect(await db.scan(Note).count()).to.equal(12)
      expect((await old.delete()).written).to.equal(0)
    })

    it('goes through sessions where there are hooks and versions', async () => {
      deleted.length = 0
      await store(...Array.from({ length: 250 }, (_, id) => Object.assign(new Task(), { id, state: 'open' })))
      const cursors: (string | undefined)[] = []
      const open = db.query(Task).where({ state: 'open' })
      const result = await open.update({ state: 'done' }, { onProgress: ({ cursor }) => cursors.push(cursor) })
      expect(result).to.include({ written: 250, failed: 0, by: 'sessions' })
      expect(result.because).to.match(/@Version/)
      expect(cursors.length).to.be.at.least(3)
      expect(await db.scan(Task).where({ state: 'done', version: 2, count: 2 }).count()).to.equal(250)
      expect((await db.query(Task).where({ state: 'done' }).delete()).written).to.equal(250)
      expect(new Set(deleted).size).to.equal(250)
      expect(await db.scan(Task).count()).to.equal(0)
    })

    it('goes on where one that was cut off has stopped', async () => {
      await store(...Array.from({ length: 250 }, (_, id) => Object.assign(new Task(), { id, state: 'open' })))
      let cursor: string | undefined
      const all = db.scan(Task)
      await failure(
        all.update(
          { state: 'done' },
          {
            onProgress: (progress) => {
              cursor = progress.cursor
              throw new Error('the process dies')
            },
          },
        ),
      )
      expect(await db.query(Task).where({ state: 'done' }).count()).to.equal(100)
      await all.update({ state: 'done' }, { after: cursor })
      expect(await db.scan(Task).where({ state: 'done', version: 2 }).count()).to.equal(250)
    })

    it('adds exactly once beside other writers of a versioned class', async () => {
      await store(...Array.from({ length: 40 }, (_, id) => Object.assign(new Task(), { id, state: 'open' })))
      const writers = Array.from({ length: 40 }, async (_, id) => {
        const session = db.session()
        const task = await session.load(Task, id)
        task.state = 'open!'
        await session.save(task).catch(() => undefined)
        await session.close()
      })
      const [{ written, failed }] = await Promise.all([db.scan(Task).update({ count: inc(100) }), ...writers])
      expect(written + failed).to.equal(40)
      expect(
        await db
          .scan(Task)
          .where({ count: { gte: 100, lt: 200 } })
          .count(),
      ).to.equal(written)
    })

    it('treats relations and tenants as sessions do', async () => {
      const agent = Object.assign(new Agent(), { id: 1, name: 'Anna' })
      const own = listing('a', {})
      own.agent.set(agent)
      await store(agent, own, listing('b', {}))
      expect(await db.query(Listing).where({ city: 'Bern' }).delete()).to.include({ written: 2, by: 'sessions' })
      for (const tenant of ['acme', 'bolt']) {
        await db.withSession(
          async (session) => [1, 2].forEach((id) => session.persist(Object.assign(new Order(), { id, state: 'x' }))),
          { tenant },
        )
      }
      const acme = db.query(Order, { tenant: 'acme' }).where({ state: 'x' })
      expect(await acme.update({ state: 'y' })).to.include({ written: 2, by: 'sessions' })
      expect(await db.scan(Order, { tenant: 'acme' }).delete()).to.include({ written: 2, by: 'sessions' })
      expect(await db.query(Order, { tenant: 'bolt' }).where({ state: 'x' }).count()).to.equal(2)
    })

    it('refuses what cannot be set, and bulks of some records', async () => {
      const set = (changes: object): Promise<string> =>
        failure(db.scan(Note).update(changes)).then(({ message }) => message)
      expect(await set({ id: 5 })).to.include('Note.id is the key')
      expect(await set({ updatedAt: new Date() })).to.include('Note.updatedAt is the updatedAt')
      expect(await set({ state: 5 })).to.include('Note.state: 5 is not a string')
      expect(await set({ state: inc(5) })).to.include('not a number')
      expect(await set({ price: inc(0.5) })).to.include('not an integer')
      expect(await set({ stat: 5 })).to.include("no stored property 'stat'")
      expect(await set({ state: undefined })).to.include('undefined')
      expect(await set({})).to.include('nothing to set')
      expect((await failure(db.scan(Note).limit(3).delete())).code).to.equal('SKEIN_2513')
      expect((await failure(db.query(Note).where({ weight: 1 }).delete())).code).to.equal('SKEIN_2511')
      expect((await failure(db.query(Note).delete())).code).to.equal('SKEIN_2511')
    })

    it('keeps the time to live of what it changes', async function () {
      const { namespace, set } = db.model.entity(Note)
      if (!db.capabilities.namespaces[namespace].ttl) return this.skip()
      await db.withSession(async (session) => {
        await session.save(Object.assign(new Note(), { id: 1, state: 'open' }), { ttl: 500 })
      })
      const key = { ns: namespace, set, key: 1 } as unknown as Parameters<typeof db.client.get>[0]
      // The client counts from its own clock, and other tests may have moved the server's.
      const { ttl: before } = await db.client.get(key)
      await db.query(Note).where({ state: 'open' }).update({ price: 1 })
      const { ttl: after, bins } = await db.client.get(key)
      expect(bins).to.include({ price: 1 })
      expect(before - after).to.be.within(0, 300)
    })
  })
}
