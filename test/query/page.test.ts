import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Database, Page, Query, SkeinError } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { ALL, Listing, Order, State, listing, unique } from './models.js'

const run = promisify(execFile)

async function pages<T extends object>(query: Query<T>, count: number): Promise<Page<T>[]> {
  const found = [await query.page({ count })]
  for (let after = found[0].next; after !== undefined; after = found.at(-1)!.next) {
    found.push(await query.page({ count, after }))
  }
  return found
}

for (const mode of MODES) {
  describe(`pages and order of a query (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, ALL, (opened) => ({ db, server, namespace } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const many = (count: number): Listing[] =>
      Array.from({ length: count }, (_, i) => listing(`l${i}`, { price: (i * 7) % 23, city: i % 2 ? 'Bern' : 'Basel' }))

    it('gives every record once, in pages of the size asked for', async () => {
      await store(...many(45))
      const found = await pages(db.query(Listing).where({ city: 'Bern' }), 5)
      expect(found.map(({ length }) => length)).to.deep.equal([5, 5, 5, 5, 2])
      expect(new Set(found.flat().map(({ id }) => id)).size).to.equal(22)
      expect(found[0].next).to.have.length(40)
    })

    it('goes on in another database with the cursor of this one, while others come and go', async () => {
      await store(...many(40))
      const other = await server.open({ namespace, entities: ALL })
      const query = (on: Database): Query<Listing> => on.query(Listing).where({ price: { gte: 0 } })
      const seen: string[] = []
      for (let after: string | undefined, i = 0; ; i++) {
        const page = await query(i % 2 ? other : db).page({ count: 6, after })
        seen.push(...page.map(({ id }) => id))
        await store(listing(`new${i}`, { price: 5 }))
        if (page.next === undefined) break
        after = page.next
      }
      await other.close()
      const old = seen.filter((id) => id.startsWith('l'))
      expect(old).to.have.length(40)
      expect(new Set(seen).size).to.equal(seen.length)
    })

    it('goes on in another process', async () => {
      await store(...many(40))
      const query = db.query(Listing).where({ price: { gte: 0 }, city: 'Bern' })
      const first = await query.page({ count: 6 })
      const program = fileURLToPath(new URL('programs/next-pages.js', import.meta.url))
      const env = { ...process.env, SKEIN_QUERY_SETS: unique }
      const { stdout } = await run(process.execPath, [program, server.hosts, namespace, first.next!], { env })
      const ids = [...first.map(({ id }) => id), ...(JSON.parse(stdout) as string[])]
      expect(ids.sort()).to.deep.equal(((await query.keys()) as string[]).sort())
    })

    it('refuses a cursor that is damaged, or of another class, condition, tenant or order', async () => {
      await store(...many(10))
      for (const tenant of ['acme', 'bolt']) {
        await db.withSession(
          async (session) => [1, 2, 3].forEach((id) => session.persist(Object.assign(new Order(), { id, state: 'x' }))),
          { tenant },
        )
      }
      const code = (query: Promise<unknown>): Promise<string> =>
        query.then(
          () => 'none',
          (error: unknown) => (error as SkeinError).code,
        )
      const bern = db.query(Listing).where({ city: 'Bern' })
      const { next: after } = await bern.page({ count: 2 })
      expect(await code(bern.page({ count: 2, after }))).to.equal('none')
      const damaged = (after!.startsWith('A') ? 'B' : 'A') + after!.slice(1)
      expect(await code(bern.page({ count: 2, after: damaged }))).to.equal('SKEIN_2501')
      expect(await code(bern.page({ count: 2, after: 'x' }))).to.equal('SKEIN_2501')
      expect(await code(db.query(Listing).where({ city: 'Basel' }).page({ count: 2, after }))).to.equal('SKEIN_2501')
      expect(await code(bern.orderBy('price').page({ count: 2, after }))).to.equal('SKEIN_2501')
      const acme = await db.scan(Order, { tenant: 'acme' }).page({ count: 2 })
      expect(await code(db.scan(Order, { tenant: 'acme' }).page({ count: 2, after: acme.next }))).to.equal('none')
      expect(await code(db.scan(Order, { tenant: 'bolt' }).page({ count: 2, after: acme.next }))).to.equal('SKEIN_2501')
      expect(await code(bern.limit(5).page({ count: 2 }))).to.equal('SKEIN_2513')
      expect(await code(bern.page({ count: 0 }))).to.equal('SKEIN_2320')
    })

    it('fills the pages of a tenant among the records of others', async () => {
      for (const tenant of ['acme', 'bolt', 'cork']) {
        await db.withSession(
          async (session) => {
            for (let id = 0; id < 60; id++) session.persist(Object.assign(new Order(), { id, state: tenant }))
          },
          { tenant },
        )
      }
      const found = await pages(db.scan(Order, { tenant: 'bolt' }), 25)
      expect(found.map(({ length }) => length)).to.deep.equal([25, 25, 10])
      expect(found.flat().every(({ state }) => state === 'bolt')).to.equal(true)
      expect(new Set(found.flat().map(({ id }) => id)).size).to.equal(60)
    })

    it('sorts, and holds no more than the limit', async () => {
      await store(...many(30), listing('none', { rating: 1 }))
      const cheapest = await db.scan(Listing).orderBy('price').orderBy('id', 'desc').limit(3).toArray()
      const sorted = (await db.scan(Listing).toArray()).sort((a, b) => a.price - b.price || (a.id < b.id ? 1 : -1))
      expect(cheapest.map(({ id }) => id)).to.deep.equal(sorted.slice(0, 3).map(({ id }) => id))
      expect((await db.scan(Listing).orderBy('price', 'desc').first())?.price).to.equal(22)
      expect((await db.scan(Listing).orderBy('rating').limit(2).toArray())[0].id).to.equal('none')
      expect(await db.scan(Listing).orderBy('price').orderBy('id').only('city').limit(1).keys()).to.deep.equal(['l0'])
      expect(String(db.scan(Listing).orderBy('price').limit(3).explain())).to.include('here: sorts by price asc')
      const error = await (async () => {
        for await (const _ of db.scan(Listing).orderBy('price')) expect.fail('not bounded')
      })().catch((e: unknown) => e)
      expect(error).to.have.property('code', 'SKEIN_2513')
      expect(() => db.scan(Listing).orderBy('tags' as never)).to.throw(/has no order/)
    })

    it('reads an order in pages, absent values last', async () => {
      await store(...many(20).map((each, i) => Object.assign(each, { rating: i % 5 === 0 ? undefined : i / 4 })))
      for (const direction of ['asc', 'desc'] as const) {
        const found = (await pages(db.scan(Listing).orderBy('rating', direction), 3)).flat()
        const ratings = found.map(({ rating }) => rating ?? NaN)
        const stored = ratings.filter((each) => !Number.isNaN(each))
        expect(found).to.have.length(20)
        expect(ratings.slice(-4).every(Number.isNaN)).to.equal(true)
        expect(stored).to.deep.equal(stored.toSorted((a, b) => (direction === 'asc' ? a - b : b - a)))
      }
    })

    it('filters with and, or, not and arithmetic', async () => {
      await store(
        listing('a', { price: 100, rating: 2, tags: ['x'] }),
        listing('b', { price: 200, rating: 8, state: State.Sold }),
        listing('c', { price: 300, city: 'Basel' }),
      )
      const ids = async (query: Query<Listing>): Promise<string> => ((await query.keys()) as string[]).sort().join('')
      const all = db.scan(Listing)
      expect(await ids(all.filter((l) => l.price.gt(250).or(l.rating.lt(3))))).to.equal('ac')
      expect(await ids(all.filter((l) => l.rating.gt(3).not()))).to.equal('ac')
      expect(await ids(all.filter((l) => l.price.times(l.rating).gte(1600)))).to.equal('b')
      expect(await ids(all.filter((l) => l.price.dividedBy(3).lt(34)))).to.equal('a')
      expect(await ids(all.filter((l) => l.price.mod(200).eq(100)))).to.equal('ac')
      expect(await ids(all.filter((l) => l.price.minus(250).abs().between(50, 100)))).to.equal('bc')
      expect(await ids(all.filter((l) => l.price.plus(0.5).in([100.5, 300.5])))).to.equal('ac')
      expect(await ids(all.filter((l) => l.city.startsWith('Ba').or(l.tags.size.eq(1))))).to.equal('ac')
      expect(await ids(all.filter((l) => l.state.eq(State.Sold).or(l.tags.has('x')).not()))).to.equal('c')
      expect(await ids(all.filter((l) => l.address.zip.eq(null).and(l.rating.ne(null))))).to.equal('ab')
      const indexed = db.query(Listing).filter((l) => l.city.eq('Bern').and(l.price.plus(1).gt(150)))
      expect(await ids(indexed)).to.equal('b')
      expect(indexed.explain().index).to.match(/city$/)
      expect(() => all.filter((l) => (l as unknown as { citty: typeof l.city }).citty.eq('x'))).to.throw(/citty/)
      expect(() => all.filter((l) => l.price.gt('5' as unknown as number))).to.throw(/not an integer/)
      expect(() => all.filter((l) => l.price.plus(NaN).gt(1))).to.throw(/NaN is not a number/)
    })

    it('adds up, averages, finds extremes and groups', async () => {
      await store(
        listing('a', { price: 1, views: 2n ** 60n, tags: ['x', 'y', 'x'], listedAt: new Date(5), rating: 0.5 }),
        listing('b', { price: 2, views: 3n, tags: ['y'], listedAt: new Date(9) }),
        listing('c', { price: 6, city: 'Basel', rating: 1.5 }),
      )
      const all = db.scan(Listing)
      expect(await all.sum('price')).to.equal(9)
      expect(await all.sum('views')).to.equal(2n ** 60n + 3n)
      expect([await all.avg('price'), await all.avg('rating')]).to.deep.equal([3, 1])
      expect([await all.min('listedAt'), await all.max('listedAt')]).to.deep.equal([new Date(5), new Date(9)])
      expect(await all.where({ city: 'Genf' }).max('price')).to.equal(null)
      expect([...(await all.groupBy('city').count())].sort()).to.deep.equal([
        ['Basel', 1],
        ['Bern', 2],
      ])
      const tags = await all.groupBy('tags').count()
      expect([tags.get('x'), tags.get('y'), tags.get(null), tags.size]).to.deep.equal([1, 2, 1, 3])
      expect((await all.groupBy('city').sum('price')).get('Bern')).to.equal(3)
      expect((await all.groupBy('city').max('listedAt')).get('Bern')).to.deep.equal(new Date(9))
      expect((await all.groupBy('city').avg('rating')).get('Basel')).to.equal(1.5)
      const error = await all
        .groupBy('city', { max: 1 })
        .count()
        .catch((e: unknown) => e)
      expect(error).to.have.property('code', 'SKEIN_2512')
      expect(() => all.sum('city' as never)).to.throw(/is not a number/)
    })

    it('samples the same share of the records each time', async () => {
      await store(...many(400))
      const some = db.scan(Listing).sample(0.25)
      const first = ((await some.keys()) as string[]).sort()
      expect(first.length).to.be.within(50, 150)
      expect(((await some.keys()) as string[]).sort()).to.deep.equal(first)
      expect(() => db.scan(Listing).sample(2)).to.throw(/share/)
    })
  })
}
