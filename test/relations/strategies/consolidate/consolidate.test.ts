import { expect } from 'chai'
import { SkeinError, VersionConflictError, type Database } from 'skein'
import { MODES, need, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { line, order, Order, stock, Stock } from './consolidate-models.js'

const skus = (lines: Iterable<{ sku: string }>): string[] => [...lines].map(({ sku }) => sku)

for (const mode of MODES) {
  describe(`consolidated children (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [Order, Stock], (opened) => ({ db, server } = opened))

    const load = (id: number): Promise<Order> => db.session().load(Order, id)

    it('leaves nothing to send for a child that is taken out of a new parent, which never had it', async () => {
      const session = db.session()
      const made = session.persist(order(1, line('a')))
      made.lines.remove('z')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(skus((await load(1)).lines)).to.deep.equal(['a'])
    })

    it('stores a new parent and its children in one command, and reads them back in one', async () => {
      const session = db.session()
      const made = order(1, line('b', 2), line('a'))
      const written = await server.commands.during(() => session.save(made))
      expect(written.commands).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      let found!: Order
      const read = await server.commands.during(async () => (found = await load(1)))
      expect(read.commands).to.equal(1)
      expect(found.lines.isLoaded).to.equal(true)
      expect(found.lines.items).to.deep.equal([line('a'), line('b', 2)])
      expect(found.lines.items[0]).to.be.instanceOf(line('a').constructor)
    })

    it('adds, changes and removes a child without touching the others', async () => {
      await db.session().save(order(1, line('a'), line('b'), line('c')))
      const session = db.session()
      const found = await session.load(Order, 1)
      const [a, b] = found.lines.items
      found.lines.add(line('d', 4))
      a.quantity = 9
      found.lines.remove(b)
      expect(skus(found.lines)).to.deep.equal(['a', 'c', 'd'])
      const plan = String(await session.explain())
      expect(plan).to.contain('put lines["a"]["quantity"] = 9')
      expect(plan).to.contain('remove from lines by key: "b"')
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      expect((await load(1)).lines.items).to.deep.equal([line('a', 9), line('c'), line('d', 4)])
    })

    it('keeps what two sessions change in different children, and in different fields of one', async () => {
      await db.session().save(order(1, line('a'), line('b')))
      const [one, two] = [db.session(), db.session()]
      const [mine, theirs] = await Promise.all([one.load(Order, 1), two.load(Order, 1)])
      mine.lines.items[0].quantity = 5
      theirs.lines.items[0].note = 'fragile'
      theirs.lines.items[1].quantity = 7
      await one.flush()
      await two.flush()
      expect((await load(1)).lines.items).to.deep.equal([
        Object.assign(line('a', 5), { note: 'fragile' }),
        line('b', 7),
      ])
    })

    it('refuses to change a child that someone else removed, and writes nothing of it', async () => {
      await db.session().save(order(1, line('a'), line('b')))
      const session = db.session()
      const found = await session.load(Order, 1)
      const other = db.session()
      ;(await other.load(Order, 1)).lines.remove('a')
      await other.flush()
      found.lines.items[0].quantity = 5
      found.lines.items[1].quantity = 6
      found.customer = 'other'
      const error = await rejection(() => session.flush())
      expect(error).to.be.instanceOf(VersionConflictError)
      expect((error as SkeinError).message).to.contain('one of lines["a"], lines["b"], which were changed here, is no')
      expect((error as SkeinError).details.bin).to.equal('lines')
      const after = await load(1)
      expect(after.lines.items).to.deep.equal([line('b')])
      expect(after.customer).to.equal('customer 1')
      await session.refresh(found)
      expect(session.isDirty()).to.equal(false)
      expect(skus(found.lines)).to.deep.equal(['b'])
    })

    it('replaces a child by another one with the same key', async () => {
      await db.session().save(order(1, Object.assign(line('a'), { note: 'old' })))
      const session = db.session()
      const found = await session.load(Order, 1)
      found.lines.add(line('a', 3))
      expect(found.lines.items).to.deep.equal([line('a', 3)])
      await session.flush()
      expect((await load(1)).lines.items).to.deep.equal([line('a', 3)])
      found.lines.items[0].quantity = 4
      await session.flush()
      expect((await load(1)).lines.items).to.deep.equal([line('a', 4)])
    })

    it('undoes an add or a remove that was not sent', async () => {
      await db.session().save(order(1, line('a')))
      const session = db.session()
      const found = await session.load(Order, 1)
      const [a] = found.lines.items
      const b = line('b')
      found.lines.add(b)
      found.lines.remove(b)
      found.lines.remove(a)
      found.lines.add(a)
      expect(session.isDirty()).to.equal(false)
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(0)
    })

    it('refuses a bare key and a changed key', async () => {
      await db.session().save(order(1, line('a')))
      const session = db.session()
      const found = await session.load(Order, 1)
      expect(() => found.lines.add('b')).to.throw(SkeinError, 'Add an instance of Line')
      found.lines.items[0].sku = 'z'
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2203')
    })

    it('keeps the children that are stored on upsert, and adds what is added, as lists of keys do', async () => {
      await db.session().save(order(1, line('a'), line('b')))
      await db.session().upsert(order(1, line('c')))
      expect(skus((await load(1)).lines)).to.deep.equal(['a', 'b', 'c'])
      await db.session().upsert(order(1))
      expect(skus((await load(1)).lines)).to.deep.equal(['a', 'b', 'c'])
      await db.session().upsert(order(9, line('c')))
      expect(skus((await load(9)).lines)).to.deep.equal(['c'])
    })

    it('deletes the children with their parent', async () => {
      await db.session().save(order(1, line('a')))
      expect(await db.session().delete(Order, 1)).to.equal(true)
      expect(await db.session().find(Order, 1)).to.equal(null)
    })

    describe('left aside with eager: false', () => {
      beforeEach(() => db.session().save(stock('s', ...['a', 'b', 'c', 'd', 'e'].map((sku, i) => line(sku, i)))))

      it('is not read with its parent, but named by with', async () => {
        const found = await db.session().load(Stock, 's')
        expect(found.lines.isLoaded).to.equal(false)
        let whole!: Stock
        const read = await server.commands.during(
          async () => (whole = await db.session().load(Stock, 's', { with: ['lines'] })),
        )
        expect(read.commands).to.equal(1)
        expect(skus(whole.lines)).to.deep.equal(['a', 'b', 'c', 'd', 'e'])
      })

      it('answers each question with one command', async () => {
        const { lines } = await db.session().load(Stock, 's')
        const one = async <T>(work: () => Promise<T>): Promise<T> => {
          let result!: T
          const { commands } = await server.commands.during(async () => (result = await work()))
          expect(commands).to.equal(1)
          return result
        }
        const fresh = async (): Promise<typeof lines> => (await db.session().load(Stock, 's')).lines
        expect(await one(() => lines.count())).to.equal(5)
        expect(await one(() => lines.contains('b'))).to.equal(true)
        expect(await one(() => lines.contains('x'))).to.equal(false)
        expect(await one(() => lines.keys())).to.deep.equal(['a', 'b', 'c', 'd', 'e'])
        expect(await one(() => lines.get('c'))).to.deep.equal(line('c', 2))
        expect(await one(() => lines.get('y'))).to.equal(null)
        expect(await one(() => lines.indexOf('d'))).to.equal(3)
        expect(await one(() => lines.indexOf('x'))).to.equal(null)
        const other = await fresh()
        expect(await one(() => other.getMany(['e', 'x', 'a']))).to.deep.equal([line('e', 4), null, line('a', 0)])
        expect(skus(await one(() => other.first(2)))).to.deep.equal(['a', 'b'])
        expect(skus(await one(() => other.last(2)))).to.deep.equal(['d', 'e'])
        expect(skus(await one(() => other.last(20)))).to.deep.equal(['a', 'b', 'c', 'd', 'e'])
        expect(skus(await one(() => other.page({ offset: 1, count: 3 })))).to.deep.equal(['b', 'c', 'd'])
        expect(skus(await one(() => other.range({ from: 'b', to: 'd' })))).to.deep.equal(['b', 'c'])
        expect(skus(await one(() => other.range({ from: 'd' })))).to.deep.equal(['d', 'e'])
        expect(skus(await one(() => other.range({ to: 'b' })))).to.deep.equal(['a'])
      })

      it('answers with the unsent changes on top', async () => {
        const { lines } = await db.session().load(Stock, 's')
        lines.add(line('bb', 22))
        lines.remove('c')
        expect(await lines.count()).to.equal(5)
        expect(await lines.keys()).to.deep.equal(['a', 'b', 'bb', 'd', 'e'])
        expect(await lines.contains('bb')).to.equal(true)
        expect(await lines.contains('c')).to.equal(false)
        expect(await lines.get('c')).to.equal(null)
        expect(await lines.indexOf('d')).to.equal(3)
        expect(skus(await lines.page({ offset: 1, count: 3 }))).to.deep.equal(['b', 'bb', 'd'])
        expect(skus(await lines.first(3))).to.deep.equal(['a', 'b', 'bb'])
        expect(skus(await lines.last(3))).to.deep.equal(['bb', 'd', 'e'])
        expect(skus(await lines.range({ from: 'b', to: 'd' }))).to.deep.equal(['b', 'bb'])
      })

      it('saves what is changed in a child that was read alone', async () => {
        const session = db.session()
        const { lines } = await session.load(Stock, 's')
        const part = (await lines.get('c'))!
        expect(await lines.get('c')).to.equal(part)
        part.quantity = 33
        expect(session.isDirty()).to.equal(true)
        await session.flush()
        expect(await (await db.session().load(Stock, 's')).lines.get('c')).to.deep.equal(line('c', 33))
        expect((await lines.load()).find(({ sku }) => sku === 'c')).to.equal(part)
      })

      it('adds and removes unseen', async () => {
        const session = db.session()
        const found = await session.load(Stock, 's')
        found.lines.add(line('f'))
        found.lines.remove('a')
        const sent = await server.commands.during(() => session.flush())
        expect(sent.commands).to.equal(1)
        expect(await found.lines.keys()).to.deep.equal(['b', 'c', 'd', 'e', 'f'])
      })
    })

    it('sends as many bytes for one change among 10,000 children as among ten', async function () {
      const counter = need(this, server.embedded, 'only the embedded server counts bytes').commands
      const cost = async (id: string, count: number): Promise<number[]> => {
        const key = (i: number): string => `sku-${String(i).padStart(6, '0')}`
        await db.session().save(stock(id, ...Array.from({ length: count }, (_, i) => line(key(i)))))
        const session = db.session()
        const found = await session.load(Stock, id)
        const part = (await found.lines.get(key(3)))!
        const bytes = async (change: () => void): Promise<number> => {
          change()
          const { bytesIn, commands } = await counter.during(() => session.flush())
          expect(commands).to.equal(1)
          return bytesIn
        }
        return [
          await bytes(() => found.lines.add(line('sku-x00001'))),
          await bytes(() => (part.quantity = 2)),
          await bytes(() => found.lines.remove(key(5))),
        ]
      }
      expect(await cost('many', 10_000)).to.deep.equal(await cost('few1', 10))
    })
  })
}
