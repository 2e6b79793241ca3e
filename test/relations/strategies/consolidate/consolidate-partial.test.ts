import { expect } from 'chai'
import type { Database } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { sharedServer } from '../../../shared-server.js'
import { rejection } from '../../../session/rejection.js'
import {
  Account,
  Article,
  CLASSES,
  line,
  order,
  Order,
  payment,
  Region,
  remark,
  Stock,
  stock,
  Store,
  Writer,
} from './consolidate-models.js'

describe('consolidated children of an entity that is loaded in steps', () => {
  let db: Database
  before(async () => {
    const server = await sharedServer()
    db = await server.open({ namespace: server.namespaces[0], entities: CLASSES })
  })
  after(() => db?.close())
  beforeEach(() => emptySets(db, CLASSES))

  it('are there once the rest is loaded, and keep what was changed before', async () => {
    await db.session().save(order(1, line('a'), line('b')))
    const session = db.session()
    const found = await session.load(Order, 1, { only: ['customer'] })
    const { lines } = found
    expect(lines.isLoaded).to.equal(false)
    const a = (await lines.get('a'))!
    a.quantity = 5
    lines.remove('b')
    lines.add(line('c'))
    expect(await session.load(Order, 1)).to.equal(found)
    expect(found.lines).to.equal(lines)
    await lines.load()
    expect(lines.items).to.deep.equal([line('a', 5), line('c')])
    await session.flush()
    expect((await db.session().load(Order, 1)).lines.items).to.deep.equal([line('a', 5), line('c')])
  })

  it('are found by their id before and after their record is loaded', async () => {
    await db.withSession(async (session) => {
      const store = Object.assign(new Store(), { storeId: 's1', city: 'Bern' })
      session.create(Region, { id: 'r' }).stores.add(store)
    })
    const session = db.session()
    const part = await session.loadPart(Store, 'r:s1')
    const region = await session.load(Region, 'r')
    expect(await region.stores.get('r:s1')).to.equal(part)
    part.city = 'Biel'
    await session.flush()
    expect((await db.session().loadPart(Store, 'r:s1')).city).to.equal('Biel')
  })

  it('can be changed through a handle of an entity that is not loaded', async () => {
    await db.session().save(stock('s', line('a')))
    await db.withSession(async (session) => {
      const lines = session.at(Stock, 's').collection('lines')
      lines.add(line('b'))
      expect(await lines.count()).to.equal(2)
      ;(await lines.get('a'))!.quantity = 9
    })
    const found = await db.session().load(Stock, 's', { with: ['lines'] })
    expect(found.lines.items).to.deep.equal([line('a', 9), line('b')])
  })

  it('move to another session with their entity', async () => {
    await db.session().save(order(1, line('a'), line('b')))
    const session = db.session()
    const found = await session.load(Order, 1)
    session.detach(found)
    await db.session().delete(Order, 1)
    const other = db.session()
    found.version = undefined
    found.lines.remove('b')
    await other.save(found)
    found.lines.items[0].quantity = 4
    await other.flush()
    expect((await db.session().load(Order, 1)).lines.items).to.deep.equal([line('a', 4)])
  })

  it('are still to be sent when a record they point to could not be stored', async () => {
    await db.withSession(async (session) => {
      session.create(Writer, { id: 7, name: 'taken' })
      session.create(Article, { id: 1, title: 'one' })
    })
    const session = db.session()
    const article = await session.load(Article, 1)
    article.remarks.add(remark('a', 'first', Object.assign(new Writer(), { id: 7, name: 'new' })))
    await rejection(() => session.flush())
    expect((await db.session().load(Article, 1)).remarks.items).to.have.length(0)
    session.detach(article.remarks.items[0].author.value!)
    article.remarks.items[0].author.set(7)
    await session.flush()
    expect((await db.session().load(Article, 1)).remarks.items[0].author.key).to.equal(7)
  })

  it('of two collections are kept apart', async () => {
    await db.withSession(async (session) => {
      const account = session.create(Account, { id: 'x' })
      account.recent.add(payment(1, 5))
      account.largest.add(payment(2, 6))
    })
    const found = await db.session().load(Account, 'x')
    expect([found.recent.items, found.largest.items]).to.deep.equal([[payment(1, 5)], [payment(2, 6)]])
  })

  it('are written as JSON with their parent', async () => {
    await db.session().save(order(1, line('a')))
    const found = await db.session().load(Order, 1)
    expect(JSON.parse(JSON.stringify(found))).to.deep.include({ lines: [{ sku: 'a', quantity: 1 }] })
  })

  it('are streamed a bounded number at a time, with what was changed here, and detached again', async () => {
    const skus = Array.from({ length: 600 }, (_, i) => `s${1000 + i}`)
    await db.session().save(stock('s', ...skus.map((sku) => line(sku))))
    const { lines } = await db.session().load(Stock, 's')
    lines.remove('s1003')
    lines.add(line('s1003b'))
    const changed = (await lines.get('s1500'))!
    changed.quantity = 77
    const seen: string[] = []
    for await (const each of lines.stream()) {
      seen.push(each.sku)
      if (each.sku === 's1500') expect(each).to.equal(changed)
    }
    expect(seen).to.deep.equal([...skus.filter((sku) => sku !== 's1003'), 's1003b'].sort())
    expect(lines.isLoaded).to.equal(false)
  })

  it('are paged by their numbers: a cursor is refused, which would be ignored', async () => {
    await db.session().save(stock('s', line('a')))
    const { lines } = await db.session().load(Stock, 's')
    const error = (await rejection(() => lines.page({ count: 1, after: 'c2E' }))) as { code?: string }
    expect(error.code).to.equal('SKEIN_2430')
  })
})
