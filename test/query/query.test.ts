import { expect } from 'chai'
import type { Database, SkeinError, Where } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'
import { Address, Agent, ALL, Circle, Geo, Invoice, Listing, Order, Shape, Square, State, listing } from './models.js'

const failure = async (work: Promise<unknown>): Promise<SkeinError> =>
  work.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error as SkeinError,
  )

for (const mode of MODES) {
  describe(`a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const ids = async (where: Where<Listing>): Promise<string> =>
      (await db.query(Listing).where(where).scan().toArray())
        .map(({ id }) => id)
        .sort()
        .join(' ')

    const address = (street: string, zip?: number, lat?: number): Address =>
      Object.assign(new Address(), {
        street,
        zip,
        geo: lat === undefined ? undefined : Object.assign(new Geo(), { lat }),
      })

    describe('by conditions', () => {
      beforeEach(() =>
        store(
          listing('a', {
            city: 'Bern',
            price: 100,
            tags: ['garden', 'lake'],
            rating: 4,
            isNew: true,
            views: 2n ** 60n,
          }),
          listing('b', { city: 'Basel', price: 200, tags: ['garden'], rooms: new Set([1, 2, 3]), rating: 2.5 }),
          listing('c', {
            city: 'Bern.',
            price: 300,
            state: State.Sold,
            scores: new Map([
              ['x', 1],
              ['y', 2],
            ]),
          }),
          listing('d', {
            city: 'Zürich',
            price: 400,
            listedAt: new Date(5000),
            seal: Buffer.from([1, 2]),
            isNew: false,
          }),
          listing('e', { city: 'bern', price: -5, address: address('Main', 3000, 46.9), office: address('Side', 1) }),
        ),
      )

      const cases: [string, Where<Listing>, string][] = [
        ['equality', { city: 'Bern' }, 'a'],
        ['equality of an enum', { state: State.Sold }, 'c'],
        ['equality of a boolean', { isNew: false }, 'd'],
        ['equality of a double that is a whole number', { rating: 4 }, 'a'],
        ['equality of a large bigint', { views: 2n ** 60n }, 'a'],
        ['equality of a date', { listedAt: new Date(5000) }, 'd'],
        ['equality of bytes', { seal: Buffer.from([1, 2]) }, 'd'],
        ['inequality, which holds where nothing is stored', { rating: { ne: 4 } }, 'b c d e'],
        ['null', { rating: null }, 'c d e'],
        ['what is stored at all', { rating: { ne: null } }, 'a b'],
        ['one of several', { city: { in: ['Bern', 'Basel', 'Bern'] } }, 'a b'],
        ['one of several doubles', { rating: { in: [4, 2.5] } }, 'a b'],
        ['none of several', { city: { notIn: ['Bern', 'Basel'] } }, 'c d e'],
        ['none of none', { rating: { notIn: [] } }, 'a b c d e'],
        ['one of none', { city: { in: [] } }, ''],
        ['order', { price: { gt: 100, lte: 300 } }, 'b c'],
        ['order of doubles', { rating: { gte: 2.5, lt: 4 } }, 'b'],
        ['order of dates', { listedAt: { gt: new Date(4999) } }, 'd'],
        ['order of bigints', { views: { gt: 2n ** 60n - 1n } }, 'a'],
        ['order of texts', { city: { gte: 'Bern', lt: 'C' } }, 'a c'],
        ['a range', { price: { between: [-5, 100] } }, 'a e'],
        ['an empty range', { price: { gt: 5, lt: 6 } }, ''],
        ['how a text begins', { city: { startsWith: 'Be' } }, 'a c'],
        ['how a text begins beyond ASCII', { city: { startsWith: 'Zü' } }, 'd'],
        ['how a text ends, special characters taken as they are', { city: { endsWith: '.' } }, 'c'],
        ['what a text contains', { city: { contains: 'er' } }, 'a c e'],
        ['a pattern', { city: { regex: '^B.*[nl]$' } }, 'a b'],
        ['a pattern in any case', { city: { regex: { pattern: '^BERN$', ignoreCase: true } } }, 'a e'],
        ['an item of a list', { tags: { has: 'lake' } }, 'a'],
        ['any item of a list', { tags: { hasAny: ['lake', 'garden'] } }, 'a b'],
        ['all items of a list', { tags: { hasAll: ['lake', 'garden'] } }, 'a'],
        ['the size of a list', { tags: { size: 1 } }, 'b'],
        ['bounds of the size of a set', { rooms: { size: { gt: 2 } } }, 'b'],
        ['a member of a set', { rooms: { has: 3 } }, 'b'],
        ['a key of a map', { scores: { hasKey: 'x' } }, 'c'],
        ['any key of a map', { scores: { hasAnyKey: ['q', 'y'] } }, 'c'],
        ['a value of a map', { scores: { hasValue: 2 } }, 'c'],
        ['any value of a map', { scores: { hasAnyValue: [7, 8] } }, ''],
        ['a field of a part', { address: { street: 'Main', zip: { gt: 2999 } } }, 'e'],
        ['a field of a part in a part', { address: { geo: { lat: { gt: 46 } } } }, 'e'],
        ['a field of a part that is not there', { address: { zip: null } }, 'a b c d'],
        ['a field of a part in bins', { office: { zip: 1 } }, 'e'],
        ['a part that is there', { office: null }, 'a b c d'],
        ['several properties at once', { city: 'Bern', price: { lt: 200 } }, 'a'],
      ]
      for (const [what, where, found] of cases) {
        it(`finds records by ${what}`, async () => expect(await ids(where)).to.equal(found))
      }

      it('finds the same by an index, and leaves the rest to one filter', async () => {
        const query = db
          .query(Listing)
          .where({ price: { gte: 100, lt: 400 }, tags: { has: 'garden' }, rating: { gt: 3 } })
        expect((await query.toArray()).map(({ id }) => id)).to.deep.equal(['a'])
        expect(query.explain().index).to.match(/tags_items$/)
        expect(query.explain().otherIndexes[0]).to.match(/price$/)
      })

      it('asks an index for each of several values and gives every record once', async () => {
        const query = db.query(Listing).where({ tags: { hasAny: ['lake', 'garden', 'garden'] } })
        expect((await query.toArray()).map(({ id }) => id).sort()).to.deep.equal(['a', 'b'])
        expect(await query.count()).to.equal(2)
      })

      it('asks an index for open ranges of integers', async () => {
        expect(
          await db
            .query(Listing)
            .where({ price: { lt: 0 } })
            .count(),
        ).to.equal(1)
        expect(
          await db
            .query(Listing)
            .where({ price: { gte: 300 } })
            .count(),
        ).to.equal(2)
        expect(
          await db
            .query(Listing)
            .where({ listedAt: { gt: new Date(0) } })
            .count(),
        ).to.equal(1)
      })

      it('counts, tells whether there is one, and gives the first, keys and parts of entities', async () => {
        const bern = db.query(Listing).where({ city: 'Bern' })
        expect(await bern.count()).to.equal(1)
        expect(await bern.exists()).to.equal(true)
        expect((await bern.first())?.price).to.equal(100)
        expect(await bern.keys()).to.deep.equal(['a'])
        const [part] = await bern.only('price').toArray()
        expect([part.id, part.price, part.city]).to.deep.equal(['a', 100, undefined])
        const none = db.query(Listing).where({ city: 'Genf' })
        expect([await none.count(), await none.exists(), await none.first()]).to.deep.equal([0, false, null])
      })

      it('gives no more than the limit, and refuses an array of more than was expected', async () => {
        expect(await db.scan(Listing).limit(3).toArray()).to.have.length(3)
        expect(await db.scan(Listing).limit(3).count()).to.equal(3)
        const error = await failure(db.scan(Listing).toArray({ max: 4 }))
        expect(error.code).to.equal('SKEIN_2512')
        expect(await db.scan(Listing).toArray({ max: 5 })).to.have.length(5)
      })

      it('leaves the query it was made of as it is', async () => {
        const all = db.scan(Listing)
        all.where({ city: 'Bern' }).limit(1)
        expect(await all.count()).to.equal(5)
      })

      it('is not sent where no record can meet it', async () => {
        const sent = await db
          .query(Listing)
          .where({ city: { in: [] } })
          .toArray()
        expect(sent).to.deep.equal([])
        expect(
          String(
            db
              .query(Listing)
              .where({ city: { in: [] } })
              .explain(),
          ),
        ).to.include('nothing is sent')
      })
    })

    it('finds by a reference: an entity, a key', async () => {
      const [anna, beat] = [1, 2].map((id) => Object.assign(new Agent(), { id, name: `agent ${id}` }))
      const mine = listing('m', {})
      mine.agent.set(anna)
      const theirs = listing('t', {})
      theirs.agent.set(beat)
      await store(anna, beat, mine, theirs, listing('n', {}))
      expect(await db.query(Listing).where({ agent: anna }).keys()).to.deep.equal(['m'])
      expect(await db.query(Listing).where({ agent: 2 }).keys()).to.deep.equal(['t'])
      expect(
        (
          await db
            .query(Listing)
            .where({ agent: { in: [anna, 2] } })
            .keys()
        ).sort(),
      ).to.deep.equal(['m', 't'])
      expect(await ids({ agent: null })).to.equal('n')
      const [found] = await db.query(Listing).where({ agent: anna }).toArray()
      expect(found.agent.key).to.equal(1)
    })

    it('returns no record of another tenant', async () => {
      for (const tenant of ['acme', 'bolt']) {
        await db.withSession(
          async (session) => {
            for (const id of [1, 2]) session.persist(Object.assign(new Order(), { id, state: 'open' }))
            session.persist(Object.assign(new Invoice(), { tenant, number: 1, state: 'open' }))
          },
          { tenant },
        )
      }
      for (const query of [
        db.query(Order, { tenant: 'acme' }).where({ state: 'open' }),
        db.scan(Order, { tenant: 'acme' }),
      ]) {
        expect((await query.keys()).sort()).to.deep.equal([1, 2])
        expect(await query.count()).to.equal(2)
        expect(await query.limit(1).count()).to.equal(1)
        expect((await query.toArray()).map(({ id }) => id).sort()).to.deep.equal([1, 2])
      }
      expect(await db.scan(Order, { tenant: 'nobody' }).exists()).to.equal(false)
      expect(() => db.scan(Order))
        .to.throw()
        .with.property('code', 'SKEIN_2105')
      expect((await db.scan(Invoice, { tenant: 'acme' }).toArray()).map(({ tenant }) => tenant)).to.deep.equal(['acme'])
      expect(await db.scan(Invoice, { tenant: 'acme' }).count()).to.equal(1)
    })

    it('tells the classes of one set apart', async () => {
      await store(
        Object.assign(new Circle(), { id: 1, color: 'red', radius: 3 }),
        Object.assign(new Square(), { id: 2, color: 'red', side: 4 }),
      )
      const red = await db.query(Shape).where({ color: 'red' }).toArray()
      expect(red.map((each) => each.constructor.name).sort()).to.deep.equal(['Circle', 'Square'])
      expect(await db.query(Circle).where({ color: 'red' }).keys()).to.deep.equal([1])
      expect(
        await db
          .query(Square)
          .where({ side: { gt: 3 } })
          .count(),
      ).to.equal(1)
      expect(await db.scan(Circle).count()).to.equal(1)
    })

    it('leaves out records whose delete has begun', async () => {
      const { namespace, set } = db.model.entity(Agent)
      await store(
        Object.assign(new Agent(), { id: 1, name: 'gone' }),
        Object.assign(new Agent(), { id: 2, name: 'here' }),
      )
      const { DELETING_BIN } = await import('#src/model/index.js')
      const key = { ns: namespace, set, key: 1 } as unknown as Parameters<typeof db.client.put>[0]
      await db.client.put(key, { [DELETING_BIN]: 1 })
      expect(await db.scan(Agent).keys()).to.deep.equal([2])
      expect(await db.scan(Agent).count()).to.equal(1)
    })

    it('says which decorator is missing where no index answers', async () => {
      const error = await failure(
        db
          .query(Listing)
          .where({ rating: { gt: 3 }, state: State.Open })
          .toArray(),
      )
      expect(error.code).to.equal('SKEIN_2511')
      expect(error.details).to.include({ className: 'Listing', property: 'state' })
      expect(error.message).to.include('@Index() to Listing.state').and.include('.scan()')
      expect((await failure(db.query(Listing).count())).code).to.equal('SKEIN_2511')
    })

    it('names the index that the server does not have', async () => {
      const { namespace, set } = db.model.entity(Listing)
      await db.client.indexRemove(namespace, `${set}_city`)
      try {
        const error = await failure(db.query(Listing).where({ city: 'Bern' }).toArray())
        expect(error.code).to.equal('SKEIN_4211')
        expect(error.message).to.include(`${set}_city`).and.include('db.indexes.sync()')
      } finally {
        await db.indexes.sync()
      }
    })

    it('refuses what cannot be asked before anything is sent', () => {
      const ask = (where: object) => () => db.query(Listing).where(where)
      expect(ask({ citty: 'x' })).to.throw(/no stored property 'citty'.*city/)
      expect(ask({ city: 5 })).to.throw(/Listing\.city: 5 is not a string/)
      expect(ask({ city: undefined })).to.throw(/Listing\.city: the condition is undefined/)
      expect(ask({ price: { gt: undefined } })).to.throw(/'gt' is undefined/)
      expect(ask({ city: { like: 'B' } })).to.throw(/no condition 'like'/)
      expect(ask({ isNew: { gt: true } })).to.throw(/no condition 'gt'/)
      expect(ask({ price: { between: [1] } })).to.throw(/two values/)
      expect(ask({ price: {} })).to.throw(/no condition is given/)
      expect(ask({ address: {} })).to.throw(/Listing\.address: no condition is given/)
      expect(ask({ tags: { has: 5 } })).to.throw(/Listing\.tags: 5 is not a string/)
      expect(ask({ extra: { a: 1 } })).to.throw(/json cannot be looked into/)
      expect(ask({ address: { zip: 'x' } })).to.throw(/Listing\.address\.zip: "x" is not an integer/)
      expect(ask({ state: 'lost' })).to.throw(/is not one of/)
      expect(() => db.scan(Listing).limit(0)).to.throw(/limit/)
      expect(() => db.query(Listing, { tenent: 'x' } as object)).to.throw(/tenent/)
    })

    it('is refused inside a transaction unless asked for', async function () {
      if (mode === 'ap') return this.skip()
      await store(listing('a', {}))
      const error = await failure(db.transaction(() => db.scan(Listing).count()))
      expect(error.code).to.equal('SKEIN_2313')
      expect(await db.transaction(() => db.scan(Listing, { outsideTransaction: true }).count())).to.equal(1)
    })

    it('ends with the reason of its signal', async () => {
      await store(...Array.from({ length: 50 }, (_, i) => listing(`${i}`, {})))
      const stop = new AbortController()
      const error = await failure(
        (async () => {
          for await (const _ of db.scan(Listing, { signal: stop.signal })) stop.abort(new Error('enough'))
        })(),
      )
      expect(error.message).to.equal('enough')
    })

    it('tells how far it has come', async () => {
      await store(...Array.from({ length: 20 }, (_, i) => listing(`${i}`, {})))
      const seen: string[] = []
      await db.scan(Listing, { onProgress: ({ records, share }) => seen.push(`${records} ${share}`) }).count()
      expect(seen.at(-1)).to.equal('20 1')
    })
  })
}
