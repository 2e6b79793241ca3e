import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Counter,
  EntityGoneError,
  Index,
  Key,
  ModelError,
  open,
  Record,
  Sharded,
  Version,
  type Database,
} from 'skein'
import { startEmbedded } from 'skein/embedded'
import { commandWords } from '../../command-words.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

const SHARDS = 4

@Record({ set: 'shc_page' })
class Page {
  @Key() path!: string
  @Index() @Bin() site!: string
  @Version() version?: number
  @Sharded({ by: 'hash', shards: SHARDS }) @Counter() views = 0
  @Sharded({ by: 'hash', shards: 2 }) @Counter() likes = 0
}

@Record({ set: 'shc_page' })
class PageNow {
  @Key() path!: string
  @Bin() site!: string
  @Sharded({ by: 'hash', shards: 2 * SHARDS }) @Counter() views = 0
}

@Record({ set: 'shc_shop', tenant: true })
class Shop {
  @Key() id!: number
  @Bin({ type: 'string' }) name?: string
  @Sharded({ by: 'hash', shards: 2 }) @Counter() visits = 0
}

describe('sharded counters in a namespace with a default-ttl', () => {
  it('are refused unless the class never expires', async () => {
    @Record({ set: 'shc_kept', ttl: 'never' })
    class Kept {
      @Key() path!: string
      @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
    }
    const server = await startEmbedded({ namespaces: [{ name: 'short', mode: 'ap', defaultTtl: 1000 }] })
    try {
      const options = { hosts: server.hosts, namespace: 'short' }
      const error = await rejection(() => open({ ...options, entities: [Page] }))
      expect(error).to.be.instanceOf(ModelError)
      expect((error as ModelError).problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
        'SKEIN_1051 views',
        'SKEIN_1051 likes',
      ])
      await (await open({ ...options, entities: [Kept] })).close()
    } finally {
      await server.stop()
    }
  })
})

for (const mode of MODES) {
  describe(`sharded counters (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Page, Shop], (opened) => ({ db, server, namespace } = opened))

    it('use all of their shards, also where several are added to together', async () => {
      await db.withSession((session) => void session.create(Page, { path: '/', site: 's' }))
      for (let i = 0; i < SHARDS; i++)
        await db.withSession((session) => {
          session.at(Page, '/').counter('views').add(1)
          session.at(Page, '/').counter('likes').add(1)
        })
      const stored = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length
      expect([await stored('shc_page_views'), await stored('shc_page_likes')]).to.deep.equal([SHARDS, 2])
    })

    const wordsOf = async (work: () => Promise<unknown>): Promise<string> =>
      (await commandWords(server, work)).join(' ')

    const stored = async (path: string): Promise<Page | null> => (await db.read(Page, [path]))[0]

    /** Makes a page whose companions all exist. */
    async function warmPage(path: string): Promise<void> {
      await db.withSession((session) => void session.create(Page, { path, site: 'x', views: 100 }))
      for (let i = 0; i < SHARDS; i++) await add(path, 1)
      await add(path, -SHARDS)
    }

    const add = (path: string, by: number): Promise<void> =>
      db.withSession((session) => session.at(Page, path).counter('views').add(by))

    it('hold what was added, however it was added, and read it with the record in one batch', async () => {
      await warmPage('/a')
      expect((await stored('/a'))!.views).to.equal(100)
      const session = db.session()
      const page = await session.load(Page, '/a')
      page.views += 7
      await session.save(page)
      session.at(page).counter('views').add(2)
      session.at(Page, '/a').counter('likes').add(1)
      expect(page.views).to.equal(109)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(page.likes).to.equal(1)
      const other = db.session()
      let loaded!: Page
      expect(await wordsOf(async () => (loaded = await other.load(Page, '/a')))).to.equal(`batch×${1 + SHARDS + 2}`)
      expect([loaded.views, loaded.likes]).to.deep.equal([109, 1])
      expect(await wordsOf(async () => db.read(Page, ['/a']))).to.equal(`batch×${1 + SHARDS + 2}`)
      expect(await db.session().at(Page, '/a').counter('views').value()).to.equal(109)
      page.views = -1
      await session.refresh(page)
      expect([page.views, page.likes]).to.deep.equal([109, 1])
      expect(session.isDirty()).to.equal(false)
      expect((await db.session().loadMany(Page, ['/a']))[0].views).to.equal(109)
      expect((await db.session().load(Page, '/a', { only: ['site'] })).views).to.equal(undefined)
    })

    it('take an add with one command once their companions exist, and send no transaction for it', async () => {
      await warmPage('/a')
      expect(await wordsOf(() => add('/a', 1))).to.equal('write')
      const session = db.session()
      const page = await session.load(Page, '/a')
      page.views++
      expect(await wordsOf(() => session.save(page))).to.equal('write')
      expect(page.version).to.equal(1)
      expect((await stored('/a'))!.views).to.equal(102)
    })

    it('go with the other changes of the record in one save', async () => {
      await warmPage('/a')
      const session = db.session()
      const page = await session.load(Page, '/a')
      page.views += 3
      page.site = 'y'
      await session.save(page)
      expect(page.version).to.equal(2)
      const now = (await stored('/a'))!
      expect([now.views, now.site, now.version]).to.deep.equal([103, 'y', 2])
      expect(session.isDirty()).to.equal(false)
    })

    it('spread adds over all companions', async () => {
      await db.withSession((session) => void session.create(Page, { path: '/a', site: 'x' }))
      await Promise.all(Array.from({ length: 40 }, () => add('/a', 1)))
      expect((await stored('/a'))!.views).to.equal(40)
      const counts = await Promise.all(
        Array.from({ length: SHARDS }, (_, i) =>
          db.client.get(new Aerospike.Key(namespace, 'shc_page_views', `/a:${i}`)),
        ),
      )
      expect(counts.map(({ bins }) => bins.views)).to.deep.equal([10, 10, 10, 10])
    })

    it('refuse adds to a record that is gone, and leave no companion behind', async () => {
      const session = db.session()
      session.at(Page, '/none').counter('views').add(5)
      expect(await rejection(() => session.flush())).to.be.instanceOf(EntityGoneError)
      expect(session.isDirty()).to.equal(true)
      expect(await rejection(() => session.flush())).to.be.instanceOf(EntityGoneError)
      await db.withSession((one) => void one.create(Page, { path: '/none', site: 'x' }))
      expect((await stored('/none'))!.views).to.equal(0)
      await session.flush()
      expect((await stored('/none'))!.views).to.equal(5)
    })

    it('make their record where the handle may create it, and touch it no more afterwards', async () => {
      const count = (): Promise<void> =>
        db.withSession((session) => session.at(Page, '/made', { create: true }).counter('views').add(1))
      for (let i = 0; i < SHARDS; i++) await count()
      expect(await wordsOf(count)).to.equal('write')
      expect((await stored('/made'))!.views).to.equal(SHARDS + 1)
      const handle = db.session().at(Page, '/unmade', { create: true }).counter('views')
      handle.add(3)
      expect(await handle.value()).to.equal(3)
    })

    it('are gone with their record, and begin at zero when it is made again', async () => {
      await warmPage('/a')
      const session = db.session()
      expect(await session.delete(await session.load(Page, '/a'))).to.equal(true)
      expect(await stored('/a')).to.equal(null)
      await db.withSession((one) => void one.create(Page, { path: '/a', site: 'x' }))
      expect((await stored('/a'))!.views).to.equal(0)
      await add('/a', 2)
      expect(await db.session().delete(Page, '/a')).to.equal(true)
      await db.withSession((one) => void one.create(Page, { path: '/a', site: 'x' }))
      expect((await stored('/a'))!.views).to.equal(0)
    })

    it('keep what was added when the record is upserted', async () => {
      await warmPage('/a')
      const session = db.session()
      const page = await session.load(Page, '/a')
      await add('/a', 10)
      page.site = 'z'
      page.views += 1
      await session.upsert(page)
      expect(await stored('/a')).to.include({ site: 'z', views: 111 })
      await db.session().upsert(Object.assign(new Page(), { path: '/b', site: 'x', views: 5 }))
      await add('/b', 1)
      await db.session().upsert(Object.assign(new Page(), { path: '/b', site: 'y', views: 5 }))
      expect(await stored('/b')).to.include({ site: 'y', views: 6 })
    })

    it('cannot be set to nothing', async () => {
      await warmPage('/a')
      const session = db.session()
      const page = await session.load(Page, '/a')
      page.views = null as never
      const error = await rejection(() => session.save(page))
      expect(error).to.have.property('code', 'SKEIN_2201')
      page.views = 3
      await session.save(page)
      expect((await stored('/a'))!.views).to.equal(3)
    })

    it('are whole in what queries find', async () => {
      await warmPage('/a')
      await warmPage('/b')
      await add('/b', 1)
      const found = await db.query(Page).where({ site: 'x' }).toArray()
      expect(found.map(({ path, views }) => `${path} ${views}`).sort()).to.deep.equal(['/a 100', '/b 101'])
      const session = db.session()
      for await (const page of session.query(Page).where({ site: 'x' })) page.views++
      await session.flush()
      expect((await db.read(Page, ['/a', '/b'])).map((page) => page!.views)).to.deep.equal([101, 102])
      await db.query(Page).where({ site: 'x' }).delete()
      await db.withSession((one) => void one.create(Page, { path: '/a', site: 'x' }))
      expect((await stored('/a'))!.views).to.equal(0)
    })

    it('take part in a transaction as a whole', async function () {
      if (mode === 'ap') return this.skip()
      await warmPage('/a')
      const failing = db.transaction(async (session) => {
        const page = await session.load(Page, '/a')
        page.views += 5
        await session.flush()
        expect((await session.load(Page, '/a')).views).to.equal(105)
        throw new Error('no')
      })
      expect(await rejection(() => failing)).to.have.property('message', 'no')
      expect((await stored('/a'))!.views).to.equal(100)
      await db.transaction((session) => {
        session.at(Page, '/a').counter('views').add(5)
        session.create(Page, { path: '/b', site: 'x' })
      })
      await db.transaction((session) => session.at(Page, '/b').counter('views').add(5))
      expect((await db.read(Page, ['/a', '/b'])).map((page) => page!.views)).to.deep.equal([105, 5])
      const gone = db.transaction((session) => session.at(Page, '/none').counter('views').add(5))
      expect(await rejection(() => gone)).to.be.instanceOf(EntityGoneError)
    })

    it('take more shards without a migration', async () => {
      await warmPage('/a')
      const later = await server.open({ namespace, entities: [PageNow] })
      try {
        for (let i = 0; i < 2 * SHARDS; i++)
          await later.withSession((session) => session.at(PageNow, '/a').counter('views').add(1))
        expect((await later.read(PageNow, ['/a']))[0]!.views).to.equal(100 + 2 * SHARDS)
        await later.session().delete(PageNow, '/a')
      } finally {
        await later.close()
      }
    })

    it('belong to tenants', async () => {
      for (const tenant of ['t1', 't2'])
        await db.withSession((session) => void session.create(Shop, { id: 1 }), { tenant })
      for (let i = 0; i < 3; i++)
        await db.withSession((session) => session.at(Shop, 1).counter('visits').add(1), { tenant: 't1' })
      expect((await db.read(Shop, [1], { tenant: 't1' }))[0]!.visits).to.equal(3)
      expect((await db.read(Shop, [1], { tenant: 't2' }))[0]!.visits).to.equal(0)
      expect(await db.session({ tenant: 't1' }).at(Shop, 1).counter('visits').value()).to.equal(3)
    })

    it('cannot expire with their record', async () => {
      const session = db.session()
      const page = Object.assign(new Page(), { path: '/a', site: 'x' })
      const error = await rejection(() => session.save(page, { ttl: 60 }))
      expect(error).to.have.property('code', 'SKEIN_2309')
      await session.save(page, { ttl: 'never' })
    })

    it('are emptied by truncate', async () => {
      await warmPage('/a')
      await db.truncate(Page)
      await db.withSession((one) => void one.create(Page, { path: '/a', site: 'x' }))
      expect((await stored('/a'))!.views).to.equal(0)
    })

    it('show in explain where an add goes', async () => {
      const session = db.session()
      session.at(Page, '/a').counter('views').add(2)
      const text = String(await session.explain())
      expect(text).to.match(/shc_page_views\/"\/a:[0-3]"/)
      expect(text).to.include('any of the 4 shards of views')
      expect(String(db.model.describe())).to.include('4 shards by hash')
    })
  })
}
