import { expect } from 'chai'
import { open, type Database, type Session } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { bucketEnd, bucketName, bucketStart, startOfBucket } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { storedBins } from '../../stored-bins.js'
import { useDatabase } from '../../use-database.js'
import { DAY, HOUR, Site, event } from './bucket-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const site = (id = 's'): Site => Object.assign(new Site(), { id })
const ids = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id)
/** A message that a rejection carries. */
const codeOf = async (work: () => Promise<unknown>): Promise<unknown> =>
  ((await rejection(work)) as { code?: string }).code

describe('buckets of time', () => {
  it('are counted from midnight UTC, and from 1970-01-01', () => {
    const at = Date.parse('2024-05-01T17:20:00Z')
    expect(bucketName({ unit: 'day', every: 1 }, at)).to.equal('2024-05-01')
    expect(bucketName({ unit: 'hour', every: 1 }, at)).to.equal('2024-05-01-17')
    expect(bucketName({ unit: 'hour', every: 6 }, at)).to.equal('2024-05-01-12')
    expect(bucketName({ unit: 'hour', every: 5 }, at)).to.equal('2024-05-01-15')
    expect(bucketName({ unit: 'hour', every: 5 }, Date.parse('2024-05-01T23:59:59Z'))).to.equal('2024-05-01-20')
    expect(bucketName({ unit: 'day', every: 7 }, Date.parse('1970-01-09T00:00:00Z'))).to.equal('1970-01-08')
    expect(bucketName({ unit: 'day', every: 7 }, -1)).to.equal('1969-12-25')
    expect(bucketName({ unit: 'day', every: 1 }, Date.parse('9999-12-31') + DAY)).to.equal(undefined)
  })

  it('end where the next begins', () => {
    for (const buckets of [
      { unit: 'hour', every: 5 },
      { unit: 'hour', every: 24 },
      { unit: 'day', every: 3 },
    ] as const) {
      let start = bucketStart(buckets, START)
      for (let i = 0; i < 20; i++) {
        const end = bucketEnd(buckets, start)
        expect(bucketStart(buckets, end - 1)).to.equal(start)
        expect(bucketStart(buckets, end)).to.equal(end)
        expect(startOfBucket(buckets, bucketName(buckets, end - 1))).to.equal(start)
        start = end
      }
    }
    expect(startOfBucket({ unit: 'day', every: 1 }, '2024-05-01-03')).to.equal(undefined)
    expect(startOfBucket({ unit: 'day', every: 1 }, '2024-99-01')).to.equal(undefined)
  })
})

for (const mode of MODES) {
  describe(`children in buckets of time (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Site], (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string) => storedBins(db, namespace, set, key)
    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length
    const rowsOf = async (work: () => Promise<unknown>): Promise<number> => (await server.commands.during(work)).rows

    /** Ten days with three events each. */
    const fill = async (): Promise<void> => {
      const made = site()
      for (let day = 0; day < 10; day++)
        for (let i = 0; i < 3; i++) made.events.add(event(`d${day}-${i}`, START + day * DAY + i * HOUR))
      await db.session().save(made)
    }

    it('are in the record of their day, and the owner lists the days', async () => {
      const made = site()
      made.events.add(event('b', START + DAY), event('a', START))
      made.hits.add(event('h', START + 7 * HOUR))
      await db.session().save(made)
      const root = await stored('bsite', 's')
      expect(root).to.deep.include({
        subkeys: ['days', 1, ['2024-05-01', '2024-05-02']],
        hitsIn: ['hours', 6, ['2024-05-01-06']],
        recentIn: ['hours', 1, []],
      })
      expect(await stored('bsite_events', 's:2024-05-02')).to.deep.include({
        '_sk.root': 's',
        '_sk.shard': '2024-05-02',
      })
      expect(await stored('bsite_hits', 's:2024-05-01-06')).to.have.property('hits')
      const session = db.session()
      session
        .at(Site, 's')
        .collection('events')
        .add(event('c', START + 5 * DAY))
      await session.flush()
      expect((await stored('bsite', 's'))?.subkeys).to.deep.equal([
        'days',
        1,
        ['2024-05-01', '2024-05-02', '2024-05-06'],
      ])
      expect(await (await db.session().load(Site, 's')).events.keys()).to.deep.equal(['a', 'b', 'c'])
    })

    it('are added by one command once their bucket is there', async () => {
      await fill()
      const session = db.session()
      session
        .at(Site, 's')
        .collection('events')
        .add(event('late', START + 3 * DAY + 5 * HOUR))
      expect(await rowsOf(() => session.flush())).to.equal(1)
    })

    it('are asked by a window of time, which reads only the buckets that it needs', async () => {
      await fill()
      const { events } = await db.session().load(Site, 's')
      const window = { from: new Date(START + 2 * DAY + HOUR), to: new Date(START + 4 * DAY) }
      let found: string[] = []
      const rows = await rowsOf(async () => (found = ids(await events.window(window))))
      expect(found).to.deep.equal(['d2-1', 'd2-2', 'd3-0', 'd3-1', 'd3-2'])
      // The owner, three days of which the last begins where the window ends.
      expect(rows).to.be.at.most(4)
      expect(await events.window({ from: new Date(START - DAY), to: new Date(START) })).to.deep.equal([])
      for (const wrong of [{ from: new Date(2), to: new Date(1) }, { from: 'x', to: new Date() }, undefined])
        expect(await codeOf(() => events.window(wrong as never))).to.be.a('string')
    })

    it('are asked from the newest, and no further than needed', async () => {
      await fill()
      const { events } = await db.session().load(Site, 's')
      let found: string[] = []
      expect(await rowsOf(async () => (found = ids(await events.last(2))))).to.equal(2)
      expect(found).to.deep.equal(['d9-1', 'd9-2'])
      expect(await rowsOf(async () => (found = ids(await events.last(5))))).to.equal(4)
      expect(found).to.deep.equal(['d8-1', 'd8-2', 'd9-0', 'd9-1', 'd9-2'])
      expect(await rowsOf(async () => (found = ids(await events.first(1))))).to.equal(2)
      expect(found).to.deep.equal(['d0-0'])
      expect(ids(await events.page({ offset: 4, count: 3 }))).to.deep.equal(['d1-1', 'd1-2', 'd2-0'])
      expect(ids(await events.page({ offset: -4, count: 2 }))).to.deep.equal(['d8-2', 'd9-0'])
      const paged: string[] = []
      for (let after: string | undefined, isLast = false; !isLast;) {
        const page = await events.page({ count: 4, ...(after !== undefined && { after }) })
        paged.push(...ids(page))
        after = page.next
        isLast = after === undefined
      }
      const all = Array.from({ length: 10 }, (_, day) => [0, 1, 2].map((i) => `d${day}-${i}`)).flat()
      expect(paged).to.deep.equal(all)
      expect(await events.count()).to.equal(30)
      expect(await events.contains('d4-1')).to.equal(true)
      expect(await events.contains('nobody')).to.equal(false)
      expect(await events.indexOf('d1-0')).to.equal(3)
      expect((await events.get('d7-2'))?.at.getTime()).to.equal(START + 7 * DAY + 2 * HOUR)
      const streamed: string[] = []
      for await (const { id } of events.stream()) streamed.push(id)
      expect(streamed).to.deep.equal(all)
      expect(ids(await events.load())).to.deep.equal(all)
      expect(ids(await events.window({ from: new Date(START), to: new Date(START + HOUR) }))).to.deep.equal(['d0-0'])
    })

    it('are changed and removed, loaded or not', async () => {
      await fill()
      const session = db.session()
      const { events } = await session.load(Site, 's')
      const [first] = await events.first(1)
      first.text = 'changed'
      events.remove('d5-1', 'nobody')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const again = await db.session().load(Site, 's')
      expect((await again.events.get('d0-0'))?.text).to.equal('changed')
      expect(await again.events.count()).to.equal(29)
      // Within its bucket a child may change its date.
      const other = db.session()
      const moved = (await (await other.load(Site, 's')).events.get('d0-0'))!
      moved.at = new Date(START + 9 * HOUR)
      await other.flush()
      expect(ids(await (await db.session().load(Site, 's')).events.first(3))).to.deep.equal(['d0-1', 'd0-2', 'd0-0'])
    })

    it('are refused without a date, with one of another bucket, and where their bucket has expired', async () => {
      await fill()
      const session = db.session()
      const moved = (await (await session.load(Site, 's')).events.get('d0-0'))!
      moved.at = new Date(START + DAY)
      expect(await codeOf(() => session.flush())).to.equal('SKEIN_2426')
      const undated = db.session()
      undated
        .at(Site, 's')
        .collection('events')
        .add(Object.assign(event('x', 0), { at: undefined }))
      expect(await codeOf(() => undated.flush())).to.be.a('string')
      const late = db.session()
      late
        .at(Site, 's')
        .collection('recent')
        .add(event('x', Date.now() - 3 * DAY))
      expect(await codeOf(() => late.flush())).to.equal('SKEIN_2426')
      expect(await recordsOf('bsite_recent')).to.equal(0)
    })

    it('are refused where they replace one of another bucket that was removed unseen', async () => {
      await fill()
      const replace = (at: number): Session => {
        const session = db.session()
        const events = session.at(Site, 's').collection('events')
        events.remove('d0-0')
        events.add(Object.assign(event('d0-0', at), { text: 'again' }))
        return session
      }
      const away = replace(START + 20 * DAY)
      expect(await codeOf(() => away.flush())).to.equal('SKEIN_2426')
      const events = db.session().at(Site, 's').collection('events')
      expect(await events.count()).to.equal(30)
      const here = replace(START + HOUR)
      await here.flush()
      expect(here.isDirty()).to.equal(false)
      expect([await events.count(), (await events.get('d0-0'))?.text]).to.deep.equal([30, 'again'])
      const absent = db.session()
      const none = absent.at(Site, 's').collection('events')
      none.remove('new')
      none.add(event('new', START + 20 * DAY))
      await absent.flush()
      expect(await events.count()).to.equal(31)
    })

    it('go with their owner', async () => {
      await fill()
      const session = db.session()
      await session.delete(await session.load(Site, 's'))
      expect(await recordsOf('bsite_events')).to.equal(0)
      await fill()
      expect(await recordsOf('bsite_events')).to.equal(10)
    })

    it('are upserted with their owner, which keeps its list', async () => {
      await fill()
      const made = site()
      made.events.add(event('more', START + 20 * DAY))
      await db.session().upsert(made)
      expect(await (await db.session().load(Site, 's')).events.count()).to.equal(31)
      const other = site('t')
      other.events.add(event('more', START))
      await db.session().upsert(other)
      expect(await (await db.session().load(Site, 't')).events.keys()).to.deep.equal(['more'])
    })

    it('are in buckets as long as their owner says, whatever the class says now', async () => {
      await db.session().save(site())
      await db.client.put({ ns: namespace, set: 'bsite', key: 's' }, { subkeys: ['hours', 12, []] })
      const session = db.session()
      session
        .at(Site, 's')
        .collection('events')
        .add(event('a', START), event('b', START + 13 * HOUR))
      await session.flush()
      expect(await recordsOf('bsite_events')).to.equal(2)
      expect(await (await db.session().load(Site, 's')).events.keys()).to.deep.equal(['a', 'b'])
    })

    it('are verified: each in its bucket, and listed by its owner', async () => {
      await fill()
      const findings: string[] = []
      for await (const { kind, state } of db.verify(Site, { settle: 0 })) findings.push(`${kind} ${state}`)
      expect(findings).to.deep.equal([])
      const day = (await db.client.get({ ns: namespace, set: 'bsite_events', key: 's:2024-05-01' })).bins
      await db.client.put({ ns: namespace, set: 'bsite_events', key: 's:2024-05-02' }, day as never)
      for await (const { kind, state } of db.verify(Site, { settle: 0, repair: true }))
        findings.push(`${kind} ${state}`)
      expect(findings).to.deep.equal(Array.from({ length: 3 }, () => 'misplacedMember repaired'))
    })
  })
}

describe('buckets of time that expire', () => {
  // A server of its own, because its clock is moved.
  let server: EmbeddedServer
  let db: Database
  before(async () => {
    server = await startEmbedded({ namespaces: ['test:ap'] })
    db = await open({ hosts: server.hosts, namespace: 'test', entities: [Site] })
  })
  after(async () => {
    await db?.close()
    await server?.stop()
  })

  it('disappear without errors, and from the list when the next is made', async () => {
    const now = Date.now()
    const made = site()
    made.recent.add(event('old', now - 2 * DAY + HOUR), event('new', now))
    await db.session().save(made)
    const found = await db.client.query('test', 'bsite_recent').results()
    // Until the end of its hour, and two days more.
    expect(Math.max(...found.map(({ ttl }) => ttl))).to.be.within(2 * 86_400 - 60, 2 * 86_400 + 3660)
    expect(Math.min(...found.map(({ ttl }) => ttl))).to.be.within(3600 - 60, 2 * 3600 + 60)
    await server.clock.advance(4 * 3600)
    const session = db.session()
    const { recent } = await session.load(Site, 's')
    expect(await recent.keys()).to.deep.equal(['new'])
    expect(await recent.count()).to.equal(1)
    expect(ids(await recent.last(5))).to.deep.equal(['new'])
    recent.remove('old')
    await session.flush()
    expect((await db.session().load(Site, 's', { with: ['recent'] })).recent.items).to.have.length(1)
  })
})
