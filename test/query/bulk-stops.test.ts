import 'reflect-metadata'
import { expect } from 'chai'
import { Max } from 'class-validator'
import {
  Bin,
  BulkStoppedError,
  Embeddable,
  Embedded,
  Index,
  Key,
  Record,
  ValidationFailedError,
  inc,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qs${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}j` })
class Job {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) step!: number
  @Bin({ type: 'int' }) @Max(100) load!: number
}

@Embeddable()
class Place {
  @Bin() city?: string
  @Bin({ type: 'int' }) zip?: number
}

@Record({ set: `${unique}c` })
class Count {
  @Key() id!: number
  @Index() @Bin() state!: string
  @Bin({ type: 'int' }) total?: number
  @Bin({ type: 'bigint' }) big?: bigint
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @Embedded(() => Place) place?: Place
}

for (const mode of MODES) {
  describe(`bulk operations that cannot write everything (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Job, Count], (opened) => ({ db } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const jobs = (count: number, bad: number): Job[] =>
      Array.from({ length: count }, (_, id) => Object.assign(new Job(), { id, step: 0, load: id === bad ? 100 : 1 }))
    const counts = (...values: Partial<Count>[]): Count[] =>
      values.map((each, id) => Object.assign(new Count(), { id, state: 'open', ...each }))
    const failure = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => expect.fail('nothing was thrown'),
        (error: unknown) => error,
      )

    it('say how many are written, which are not, and where to go on', async () => {
      await store(...jobs(250, 77))
      const all = db.query(Job).where({ step: { gte: 0 } })
      const error = (await failure(all.update({ step: inc(1), load: inc(1) }))) as BulkStoppedError
      expect(error).to.be.instanceOf(BulkStoppedError)
      expect(error).to.include({ code: 'SKEIN_4004', failed: 1 })
      expect(error.keys).to.deep.equal([77])
      expect(error.cause).to.be.instanceOf(ValidationFailedError)
      expect(error.message).to.include(`had written ${error.written} records, but not 1`).and.to.include('77')
      expect(error.message).not.to.include('othing was sent')
      expect(await db.query(Job).where({ step: 1 }).count()).to.equal(error.written)
      if (error.cursor !== undefined) await all.update({ step: inc(1), load: inc(1) }, { after: error.cursor })
      expect(await db.query(Job).where({ step: 1 }).keys()).to.have.length(249)
      expect(await db.query(Job).where({ step: 0 }).keys()).to.deep.equal([77])
    })

    it('throw the failure itself where nothing was written', async () => {
      await store(...jobs(1, 0))
      const error = await failure(
        db
          .query(Job)
          .where({ step: 0 })
          .update({ load: inc(1) }),
      )
      expect(error).to.be.instanceOf(ValidationFailedError)
    })

    it('leave numbers alone that would become too large to be read, and count them as failed', async () => {
      const most = Number.MAX_SAFE_INTEGER
      await store(...counts({ total: most }, { total: most - 2 }, { total: -most }, {}, { state: 'done', total: most }))
      const open = db.query(Count).where({ state: 'open' })
      const expected = { written: 3, failed: 1, by: 'server' }
      expect(await open.update({ total: inc(2) }, { dryRun: true })).to.deep.equal(expected)
      expect(await open.update({ total: inc(2) })).to.deep.equal(expected)
      expect(await open.update({ total: inc(-3) })).to.deep.equal({ written: 3, failed: 1, by: 'server' })
      const totals = (await db.scan(Count).toArray()).sort((a, b) => a.id - b.id).map(({ total }) => total)
      expect(totals).to.deep.equal([most - 3, most - 3, 2 - most, -1, most])
    })

    it('leave bigints alone that would leave 64 bits', async () => {
      const most = 2n ** 63n - 1n
      await store(...counts({ big: most }, { big: most - 1n }, { big: -most }))
      const open = db.query(Count).where({ state: 'open' })
      expect(await open.update({ big: inc(1n) })).to.deep.equal({ written: 2, failed: 1, by: 'server' })
      const all = (await db.scan(Count).toArray()).sort((a, b) => a.id - b.id).map(({ big }) => big)
      expect(all).to.deep.equal([most, most, 1n - most])
    })

    it('check parts and lists before anything is sent, also in a dry run', async () => {
      const place = Object.assign(new Place(), { city: 'Bern', zip: 3000 })
      await store(...counts({ place, tags: ['a'] }))
      const open = db.query(Count).where({ state: 'open' })
      const wrong: object[] = [
        { place: { zipp: 5 } },
        { place: { zip: 'x' } },
        { place: 5 },
        { tags: 'a' },
        { tags: [5] },
      ]
      for (const changes of wrong) {
        for (const dryRun of [true, false]) {
          const error = await failure(open.update(changes, { dryRun }))
          expect(error, JSON.stringify(changes))
            .to.have.property('code')
            .that.matches(/^SKEIN_(2514|2201|2310)$/)
        }
      }
      expect(await open.first()).to.deep.include({ place, tags: ['a'] })
      expect(await open.update({ place: { city: 'Basel' }, tags: ['b'] })).to.include({ written: 1 })
      expect(await open.first()).to.deep.include({ place: Object.assign(new Place(), { city: 'Basel' }), tags: ['b'] })
    })
  })
}
