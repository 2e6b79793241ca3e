import { expect } from 'chai'
import { collection, Bin, Counter, Embeddable, Key, KEY, ManyToOne, OneToMany, Record, ref, type Session } from 'skein'
import type { Database } from 'skein'
import { commandWords } from '../../command-words.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Sample {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() value!: number
}

@Record({ set: 'slice_site' })
class Site {
  @Key() id!: string
  @Bin() city!: string
}

@Record({ set: 'slice_day', key: 'sensor:{sensor}:{day|YYYY-MM-DD}', ttl: 7 * 86_400 })
class SensorDay {
  declare readonly [KEY]: 'sensor' | 'day'
  @Bin() sensor!: number
  @Bin() day!: Date
  @Counter() samples = 0
  @OneToMany(() => Sample, { strategy: 'consolidate' }) readings = collection<Sample>()
  @ManyToOne(() => Site) site = ref<Site>()
}

@Record({ set: 'slice_hour', key: '{page}/{hour|YYYYMMDDHH}', tenant: true })
class PageHour {
  @Bin() page!: string
  @Bin({ type: 'string' }) hour!: string
  @Counter() views = 0
}

@Record({ set: 'slice_month', key: '{tenant}:{month|YYYY-MM}', tenant: true })
class Invoices {
  @Bin() tenant!: string
  @Bin() month!: Date
  @Counter() count = 0
}

@Record({ set: 'slice_plan', key: '{made|YYYY-MM-DD}>{due|YYYY-MM-DD}' })
class Plan {
  @Bin() made!: Date
  @Bin() due!: Date
}

const CLASSES = [SensorDay, Site, PageHour, Invoices, Plan]
const day = (text: string): Date => new Date(text)
const WEEK = { from: day('2024-05-01'), to: day('2024-05-08') }

for (const mode of MODES) {
  describe(`slices of time (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    const session = (tenant?: string): Session => db.session(tenant === undefined ? {} : { tenant })

    /** Stores one sample for each day. */
    async function store(sensor: number, ...days: string[]): Promise<void> {
      await db.withSession((one) => {
        for (const text of days)
          one
            .at(SensorDay, { sensor, day: day(text) }, { create: true })
            .counter('samples')
            .add(1)
      })
    }

    it('are written without being loaded, and one operate makes the record that is missing', async () => {
      const at = day('2024-05-01T10:30:00Z')
      const write = (): Promise<unknown> =>
        db.withSession((one) => {
          const handle = one.at(SensorDay, { sensor: 1, day: at }, { create: true })
          handle.counter('samples').add(1)
          handle.collection('readings').add(Object.assign(new Sample(), { value: 21 }))
        })
      expect(await commandWords(server, write)).to.deep.equal(['write'])
      await write()
      const [stored] = await session().loadRange(SensorDay, { sensor: 1 }, WEEK)
      expect(stored.samples).to.equal(2)
      expect(stored.readings.items.map(({ value }) => value)).to.deep.equal([21, 21])
      expect(stored.day).to.deep.equal(day('2024-05-01'))
    })

    it('of seven days are one batch, in the order of time, without those that are missing', async () => {
      await store(7, '2024-05-07', '2024-05-02', '2024-05-04', '2024-05-08', '2024-04-30')
      await store(8, '2024-05-03')
      let found: SensorDay[] = []
      const words = await commandWords(server, async () => {
        found = await session().loadRange(SensorDay, { sensor: 7 }, WEEK)
      })
      expect(words).to.deep.equal(['batch×7'])
      expect(found.map((each) => each.day.toISOString().slice(0, 10))).to.deep.equal([
        '2024-05-02',
        '2024-05-04',
        '2024-05-07',
      ])
      const lean = await commandWords(server, async () => {
        const read = await db.slices(SensorDay, { sensor: 7 }, { ...WEEK, only: ['samples'] })
        expect(read.map(({ samples }) => samples)).to.deep.equal([1, 1, 1])
        expect(read[0].site.isLoaded).to.equal(false)
      })
      expect(lean).to.deep.equal(['batch×7'])
    })

    it('send nothing for a range of no length, nor before they are asked for', async () => {
      const words = await commandWords(server, async () => {
        expect(await session().loadRange(SensorDay, { sensor: 7 }, { from: WEEK.from, to: WEEK.from })).to.deep.equal(
          [],
        )
        session().loadRange(SensorDay, { sensor: 7 }, WEEK)
        db.slices(SensorDay, { sensor: 7 }, WEEK)
        await Promise.resolve()
      })
      expect(words).to.deep.equal([])
    })

    it('are entities of the session, with relations, and saved like others', async () => {
      const first = session()
      first.create(Site, { id: 'roof', city: 'Bern' })
      first.create(SensorDay, { sensor: 3, day: day('2024-05-02'), site: 'roof' })
      await first.flush()
      const one = session()
      const [loaded] = await one.loadRange(SensorDay, { sensor: 3 }, { ...WEEK, with: ['site'] })
      expect(loaded.site.value!.city).to.equal('Bern')
      expect(await one.load(SensorDay, { sensor: 3, day: day('2024-05-02') })).to.equal(loaded)
      loaded.samples += 5
      await one.flush()
      expect((await db.slices(SensorDay, { sensor: 3 }, WEEK)).map(({ samples }) => samples)).to.deep.equal([5])
    })

    it('are streamed a thousand at a time', async () => {
      const hours = { from: day('2024-01-01'), to: day('2024-02-13') }
      await db.withSession(
        (one) => {
          for (const at of ['2024010100', '2024021122', '2024021123', '2024021223'])
            one.create(PageHour, { page: 'home', hour: at, views: 1 })
        },
        { tenant: 'acme' },
      )
      const { rows } = await server.commands.during(async () => {
        for await (const first of db.slices(PageHour, { page: 'home' }, { ...hours, tenant: 'acme' })) {
          expect(first.hour).to.equal('2024010100')
          break
        }
      })
      expect(rows).to.equal(1_000)
      for (const found of [
        db.slices(PageHour, { page: 'home' }, { ...hours, tenant: 'acme' }),
        session('acme').loadRange(PageHour, { page: 'home' }, hours),
      ]) {
        const seen: string[] = []
        for await (const { hour } of found) seen.push(hour)
        expect(seen).to.deep.equal(['2024010100', '2024021122', '2024021123', '2024021223'])
      }
    })

    it('of months belong to the tenant of the session', async () => {
      for (const tenant of ['acme', 'emca'])
        await db.withSession(
          (one) => void one.create(Invoices, { tenant, month: day('2024-05-01'), count: tenant.length }),
          {
            tenant,
          },
        )
      const year = { from: day('2024-01-01'), to: day('2025-01-01') }
      const words = await commandWords(server, async () => {
        const found = await session('acme').loadRange(Invoices, {}, year)
        expect(found.map(({ tenant }) => tenant)).to.deep.equal(['acme'])
      })
      expect(words).to.deep.equal(['batch×12'])
      const foreign = await rejection(async () => session('acme').loadRange(Invoices, { tenant: 'emca' }, year))
      expect(foreign).to.have.property('code', 'SKEIN_2104')
      const none = await rejection(async () => session().loadRange(PageHour, { page: 'x' }, WEEK))
      expect(none).to.have.property('code', 'SKEIN_2105')
      expect(await db.slices(Invoices, { tenant: 'emca' }, year)).to.have.length(1)
    })

    it('fill in the one date of a key of two that the parts leave out', async () => {
      const made = day('2024-04-01')
      await db.withSession((one) => void one.create(Plan, { made, due: day('2024-05-03') }))
      expect(await session().loadRange(Plan, { made }, WEEK)).to.have.length(1)
      for (const parts of [{}, { made, due: made }]) {
        const error = await rejection(async () => session().loadRange(Plan, parts, WEEK))
        expect(error).to.have.property('code', 'SKEIN_2106')
        expect((error as Error).message).to.include('Give all but one of made, due')
      }
    })

    it('refuse what is not a range before anything is sent', async () => {
      const { from, to } = WEEK
      const bad: [code: string, call: () => unknown][] = [
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, { from: to, to: from })],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, { from, to: new Date(NaN) })],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, { from, to: new Date('2060-01-01') })],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, { ...WEEK, max: 6 })],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, undefined as never)],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7 }, { from: '2024', to: '2025' } as never)],
        ['SKEIN_2106', () => session().loadRange(SensorDay, { sensor: 7, day: from }, WEEK)],
        ['SKEIN_2106', () => session().loadRange(Site, { id: 'roof' }, WEEK)],
        ['SKEIN_2106', () => db.slices(Site, { id: 'roof' }, WEEK)],
        ['SKEIN_2106', () => db.slices(SensorDay, { sensor: 7 }, undefined as never)],
        ['SKEIN_2102', () => session().loadRange(SensorDay, {}, WEEK)],
        ['SKEIN_2102', () => session().loadRange(SensorDay, 7 as never, WEEK)],
        ['SKEIN_2102', () => session('acme').loadRange(Invoices, undefined as never, WEEK)],
        ['SKEIN_2320', () => session().loadRange(SensorDay, { sensor: 7 }, { ...WEEK, tenant: 'acme' } as never)],
        ['SKEIN_2320', () => session().loadRange(SensorDay, { sensor: 7 }, { ...WEEK, with: 'site' as never })],
        ['SKEIN_2320', () => db.slices(SensorDay, { sensor: 7 }, { ...WEEK, with: ['site'] } as never)],
        ['SKEIN_2101', () => db.slices(Invoices, {}, { ...WEEK, tenant: {} as never })],
      ]
      const words = await commandWords(server, async () => {
        for (const [code, call] of bad) {
          const error = await rejection(async () => call())
          expect(error, String(call)).to.have.property('code', code)
        }
      })
      expect(words).to.deep.equal([])
    })

    it('expire as their class says, counted from the last sample', async function () {
      const { clock } = need(this, server.embedded, 'only the embedded server has a clock that can be moved')
      await store(9, '2024-05-01', '2024-05-02')
      await clock.advance(4 * 86_400)
      await store(9, '2024-05-02', '2024-05-05')
      expect(await session().loadRange(SensorDay, { sensor: 9 }, WEEK)).to.have.length(3)
      await clock.advance(4 * 86_400)
      const left = await session().loadRange(SensorDay, { sensor: 9 }, WEEK)
      expect(left.map((each) => each.day)).to.deep.equal([day('2024-05-02'), day('2024-05-05')])
      await clock.advance(4 * 86_400)
      expect(await db.slices(SensorDay, { sensor: 9 }, WEEK)).to.deep.equal([])
    })
  })
}
