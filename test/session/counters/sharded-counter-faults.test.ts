import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Counter,
  EntityGoneError,
  Key,
  PartialFailureError,
  Record,
  Sharded,
  SkeinError,
  type Database,
  type Finding,
} from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { MODES, need, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

const SHARDS = 8

@Record({ set: 'shf_page' })
class Page {
  @Key() path!: string
  @Bin() site!: string
  @Sharded({ by: 'hash', shards: SHARDS }) @Counter() views = 0
}

const COMPANIONS = 'shf_page_views'

type Fate = 'added' | 'not added' | 'in doubt'

for (const mode of MODES) {
  describe(`sharded counters, when something fails (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    /** Another process, as it were: it gives up soon, and faults are its own. */
    let hasty: Database
    useDatabase(mode, [Page], (opened) => ({ db, server, namespace } = opened))
    before(async () => {
      const limits = { retry: { attempts: 2, deadline: 40, backoff: 1 } }
      hasty = await server.open({ namespace, entities: [Page], ...limits })
    })
    after(() => hasty?.close())
    afterEach(() => server.embedded?.faults.clear())

    const views = async (path = '/a'): Promise<number | undefined> => (await db.read(Page, [path]))[0]?.views

    const create = (path = '/a'): Promise<void> =>
      db.withSession((session) => void session.create(Page, { path, site: 'x' }))

    const companions = async (): Promise<number> => (await db.client.query(namespace, COMPANIONS).results()).length

    async function add(by = 1): Promise<Fate> {
      const session = hasty.session()
      session.at(Page, '/a').counter('views').add(by)
      try {
        await session.flush()
        return 'added'
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error
        const isDoubtful =
          error instanceof PartialFailureError && error.records.some(({ outcome }) => outcome === 'inDoubt')
        // In doubt it is reported, and never sent again.
        expect(session.isDirty()).to.equal(!isDoubtful)
        return isDoubtful ? 'in doubt' : 'not added'
      }
    }

    it('count 1,000 concurrent adds exactly, but for those that are reported as in doubt', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
      this.timeout(60_000)
      await create()
      const match = { namespace, set: COMPANIONS, kind: 'write' } as const
      const kinds: FaultOptions[] = [
        { ...match, skip: 3, times: 5, answer: 4 },
        { ...match, skip: 40, times: 10, drop: true },
        { ...match, skip: 90, times: 10, drop: true, after: true },
        { ...match, skip: 150, times: 10, answer: 9, after: true },
        { ...match, skip: 250, times: 20, answer: 14 },
        { ...match, skip: 400, times: 10, drop: true, after: true },
      ]
      for (const fault of kinds) await faults.add(fault)
      const fates: Fate[] = []
      const writers = Array.from({ length: 64 }, async (_, writer) => {
        for (let i = writer; i < 1000; i += 64) fates.push(await add())
      })
      await Promise.all(writers)
      await faults.clear()
      const count = (fate: Fate): number => fates.filter((each) => each === fate).length
      expect(fates).to.have.length(1000)
      expect(count('in doubt')).to.be.greaterThan(0)
      expect(await views()).to.be.within(count('added'), count('added') + count('in doubt'))
    })

    it('count exactly what took effect, also where no answer came', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
      await create()
      for (const after of [false, true]) {
        for (let i = 0; i < 2 * SHARDS; i++) {
          await faults.add({ namespace, set: COMPANIONS, kind: 'write', skip: i % 2, drop: true, after })
          const before = (await views())!
          const fate = await add(10)
          await faults.clear()
          const gained = (await views())! - before
          if (fate === 'added') expect(gained).to.equal(10)
          if (fate === 'not added') expect(gained).to.equal(0)
          if (fate === 'in doubt') expect(gained).to.be.oneOf([0, 10])
        }
      }
    })

    it('reject an add with EntityGoneError where another deletes the record and its new companion meanwhile', async function () {
      await create()
      const session = db.session()
      session.at(Page, '/a').counter('views').add(1)
      // Where the server has transactions, the record is asked by a write, which meets theirs.
      const kind = mode === 'sc' ? 'write' : 'read'
      const asked = await addFault(this, server, { namespace, set: 'shf_page', kind, times: 1, delay: 300 })
      const adding = session.flush().then(
        () => undefined,
        (error: unknown) => error,
      )
      await untilHit(asked, adding)
      await db.session().delete(Page, '/a')
      const error = await adding
      expect(await companions()).to.equal(0)
      expect(error).to.be.instanceOf(EntityGoneError)
      expect(session.isDirty()).to.equal(true)
    })

    it('leave a delete that was cut off anywhere to be finished, by deleting again or by a sweep', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
      this.timeout(120_000)
      for (let skip = 0; skip < 14; skip++) {
        await create()
        for (let i = 0; i < SHARDS; i++) await add()
        await faults.add({ namespace, skip, drop: true, times: 1_000_000 })
        await hasty
          .session()
          .delete(Page, '/a')
          .catch(() => undefined)
        await faults.clear()
        if (mode === 'sc') await server.embedded!.clock.advance(60)
        if (skip % 2 === 0) await db.session().delete(Page, '/a')
        else {
          await db.sweep(Page)
          if ((await views()) !== undefined) await db.session().delete(Page, '/a')
        }
        expect(await companions(), `after ${skip} commands`).to.equal(0)
        expect(await views()).to.equal(undefined)
      }
    })

    it('keep nothing of a record that is deleted and made again while others add to it', async function () {
      this.timeout(60_000)
      await create()
      let isOver = false
      const adders = Array.from({ length: 8 }, async () => {
        while (!isOver) await add().catch(() => undefined)
      })
      for (let i = 0; i < 20; i++) {
        await db
          .session()
          .delete(Page, '/a')
          .catch(() => undefined)
        await create().catch(() => undefined)
      }
      isOver = true
      await Promise.all(adders)
      await db.session().delete(Page, '/a')
      // Two adds may meet in a companion between the end of its record and the one that takes it back.
      const findings: Finding[] = []
      for await (const finding of db.verify(Page, { settle: 0, repair: true })) findings.push(finding)
      expect(findings.filter(({ state }) => state !== 'repaired')).to.deep.equal([])
      expect(await companions()).to.equal(0)
      await create()
      expect(await views()).to.equal(0)
    })

    it('have companions that verify finds when their record is gone, and removes', async () => {
      await create()
      for (let i = 0; i < SHARDS; i++) await add()
      // Past Skein: the companions stay.
      const policy = new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' })
      await db.client.remove(new Aerospike.Key(namespace, 'shf_page', '/a'), policy)
      const kinds = async (repair: boolean): Promise<string[]> => {
        const found: string[] = []
        for await (const { kind, key, property, state } of db.verify(Page, { settle: 0, repair }))
          found.push(`${kind} ${String(key)} ${property} ${state}`)
        return found
      }
      const all = (state: string): string[] => Array<string>(SHARDS).fill(`companionWithoutRoot /a views ${state}`)
      expect(await kinds(false)).to.deep.equal(all('found'))
      expect(await kinds(true)).to.deep.equal(all('repaired'))
      expect(await kinds(true)).to.deep.equal([])
      expect(await companions()).to.equal(0)
    })

    it('have companions that verify reports when they are past the shards that are read', async () => {
      @Record({ set: 'shf_page' })
      class Fewer {
        @Key() path!: string
        @Bin() site!: string
        @Sharded({ by: 'hash', shards: 6 }) @Counter() views = 0
      }
      await create()
      for (let i = 0; i < SHARDS; i++) await add()
      const later = await server.open({ namespace, entities: [Fewer] })
      try {
        const found: string[] = []
        for await (const { kind, message } of later.verify(Fewer, { settle: 0, repair: true }))
          found.push(`${kind} ${message}`)
        expect(found.sort()).to.deep.equal([
          'unreadCompanion shf_page_views/"/a:6" is shard 6 of Fewer.views, which is read in 6 shards; use at least 7.',
          'unreadCompanion shf_page_views/"/a:7" is shard 7 of Fewer.views, which is read in 6 shards; use at least 8.',
        ])
      } finally {
        await later.close()
      }
      expect(await views()).to.equal(SHARDS)
    })
  })
}
