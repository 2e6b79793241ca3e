import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { open, type Database, type Finding } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { ALL_FAULTS } from '../../faults/faults.js'
import { isNamedServer, MODES, PATIENT } from '../../server.js'
import { GROWING_CLASSES, Post, Reader, make } from './growing-models.js'

const READERS = Array.from({ length: 14 }, (_, i) => `r${i}`).sort()

/** Milliseconds by which a command is late: longer than the others need to move members there and back. */
const LATE = 150

/** Changes of the number of shards that others finish, and undo, before the late command arrives; -1 is the owner's own record. */
const COURSES = [
  { from: 2, to: 3 },
  { from: 3, to: 2 },
  { from: -1, to: 3 },
  { from: 2, to: -1 },
] as const

/** By default, only calls that go to several records: those are the steps of a split. */
const KIND = ALL_FAULTS ? {} : ({ kind: 'batch' } as const)

for (const mode of MODES) {
  const title = `a command of a split that arrives late (${mode})`
  const OPTIONS = { namespace: mode, entities: GROWING_CLASSES, ...PATIENT }
  /** Every so many commands are late, by default, where others move members in one transaction. */
  const EVERY = mode === 'ap' || ALL_FAULTS ? 1 : 4

  describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
    this.timeout(120_000)
    let server: EmbeddedServer
    let db: Database
    /** Moves members in steps. Its commands are late, and it goes on when they are answered. */
    let late: Database
    /** Does not wait for an answer, as a process that has ended. */
    let gone: Database
    /** Has seen members on the move, and nothing since. */
    let stale: Database
    let turn = 0
    before(async function () {
      if (isNamedServer) this.skip()
      server = await startEmbedded({ namespaces: [`${mode}:${mode}`] })
      ;[db, late, stale] = await Promise.all([openOne(), openOne('off'), openOne()])
      const wait = { socketTimeout: LATE / 3, totalTimeout: LATE / 3 }
      const policies = { ...PATIENT.policies, write: wait, operate: wait, remove: wait, batchParentWrite: wait }
      gone = await open({ ...OPTIONS, hosts: server.hosts, policies, retry: { attempts: 1 }, transactions: 'off' })
      await db.withSession((session) => {
        for (const id of [...READERS, 'new', 'newer', 'during', 'after']) session.persist(make(Reader, { id }))
      })
    })
    afterEach(() => server?.faults.clear())
    after(async () => {
      for (const each of [db, late, gone, stale]) await each?.close()
      await server?.stop()
    })

    const openOne = (transactions?: 'off'): Promise<Database> => open({ hosts: server.hosts, ...OPTIONS, transactions })
    const readers = (of: Database, id: string) => of.session().at(Post, id).collection('readers')
    const move = (of: Database, id: string, to: number): Promise<void> =>
      to < 0 ? readers(of, id).merge() : readers(of, id).shard(to)
    const add = (of: Database, id: string, ...members: string[]): Promise<unknown> =>
      of.withSession(
        (session) =>
          void session
            .at(Post, id)
            .collection('readers')
            .add(...members),
      )
    const prepare = async (from: number): Promise<string> => {
      const id = `p${turn++}`
      await db.session().save(make(Post, { id }))
      await add(db, id, ...READERS)
      if (from > 0) await readers(db, id).shard(from)
      return id
    }
    const companionsOf = async (id: string): Promise<unknown[]> => {
      const found = await db.client.query(mode, 'gpost_readers').results()
      return found.map(({ bins }) => bins).filter((bins) => bins['_sk.root'] === id)
    }
    const findings = async (): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(Post, { settle: 0 })) found.push(finding)
      return found.map(({ message }) => message)
    }

    for (const [i, { from, to }] of COURSES.entries())
      it(`after others have gone from ${from} to ${to} shards and back closes no record and takes no member with it`, async () => {
        const clean = await prepare(from)
        const counter = await server.faults.add({ ...KIND, delay: 0, times: Infinity })
        await move(late, clean, to)
        const count = await counter.hits()
        await server.faults.clear()
        expect(count).to.be.within(3, 60)
        for (let skip = i % EVERY; skip < count; skip += EVERY) {
          const id = await prepare(from)
          const hold = await server.faults.add({ ...KIND, skip, delay: LATE })
          const moving = move(skip % 2 === 0 ? late : gone, id, to).catch(() => undefined)
          let isOver = false
          void moving.finally(() => (isOver = true))
          while (!isOver && (await hold.hits()) === 0) await pause(1)
          await move(db, id, to)
          await move(db, id, from)
          await Promise.all([moving, pause(LATE)])
          const where = `command ${skip}`
          expect(await readers(stale, id).keys(), where).to.deep.equal(READERS)
          await add(db, id, 'new')
          await add(stale, id, 'newer')
          const all = [...READERS, 'new', 'newer'].sort()
          await move(db, id, 4)
          expect(await readers(stale, id).keys(), where).to.deep.equal(all)
          expect(await readers(late, id).count(), where).to.equal(all.length)
          expect(await companionsOf(id), where).to.have.length(4)
        }
        expect(await findings()).to.deep.equal([])
      })

    it('makes no record that takes a member whose add is later still', async () => {
      const id = await prepare(-1)
      const made = await server.faults.add({ kind: 'batch', delay: 4 * LATE })
      const moving = move(gone, id, 3).catch(() => undefined)
      while ((await made.hits()) === 0) await pause(1)
      const post = { namespace: mode, set: 'gpost', key: id, kind: 'write' } as const
      const moved = await server.faults.add({ ...post, skip: 1, delay: LATE })
      const finishing = move(db, id, 3)
      while ((await moved.hits()) === 0) await pause(1)
      const held = await server.faults.add({ namespace: mode, set: 'gpost_readers', kind: 'write', delay: 6 * LATE })
      const adding = add(stale, id, 'during')
      while ((await held.hits()) === 0) await pause(1)
      await Promise.all([moving, finishing])
      await move(db, id, -1)
      await adding
      expect(await readers(db, id).keys()).to.deep.equal([...READERS, 'during'].sort())
      expect(await readers(stale, id).keys()).to.deep.equal([...READERS, 'during'].sort())
    })

    it('leaves at worst a closed companion, which the next writer opens', async () => {
      for (const of of [db, stale]) {
        const id = await prepare(2)
        for (const shard of [0, 1])
          await db.client.put({ ns: mode, set: 'gpost_readers', key: `${id}:${shard}` }, { '_sk.shards': -2 })
        expect(await readers(of, id).keys()).to.deep.equal(READERS)
        await add(of, id, 'new')
        await of.withSession((session) => void session.at(Post, id).collection('readers').remove('r0', 'r1'))
        expect(await readers(of, id).keys()).to.deep.equal([...READERS.slice(2), 'new'].sort())
        expect(await companionsOf(id)).to.have.length(2)
      }
    })

    it('leaves at worst a companion that nobody uses, which verify finds and deletes, and the next split takes', async () => {
      for (const by of ['verify', 'split']) {
        const id = await prepare(-1)
        const held = await server.faults.add({ kind: 'batch', delay: 6 * LATE })
        const moving = move(late, id, 3).catch(() => undefined)
        while ((await held.hits()) === 0) await pause(1)
        await move(db, id, 3)
        await move(db, id, -1)
        // Its next read fails, so that it does not clear up behind itself.
        await server.faults.add({ namespace: mode, set: 'gpost', kind: 'read', answer: 4, times: Infinity })
        await moving
        await server.faults.clear()
        expect(await companionsOf(id)).to.have.length(3)
        if (by === 'verify') {
          const states: string[] = []
          for await (const { kind, state, property, key } of db.verify(Post, { settle: 0, repair: true }))
            // Commands of the tests before may arrive later still.
            if (key === id) states.push(`${kind} ${property} ${id} ${state}`)
          expect(states).to.deep.equal(Array(3).fill(`unreadCompanion readers ${id} repaired`))
          expect(await companionsOf(id)).to.deep.equal([])
        }
        await move(db, id, 4)
        expect(await companionsOf(id)).to.have.length(4)
        expect(await readers(stale, id).keys()).to.deep.equal(READERS)
        expect(await findings()).to.deep.equal([])
      }
    })
  })
}
