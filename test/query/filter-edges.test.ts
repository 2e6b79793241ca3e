import { expect } from 'chai'
import {
  Bin,
  Counter,
  Index,
  Key,
  ManyToOne,
  Record,
  Sharded,
  inc,
  ref,
  type Database,
  type Filter,
  type SkeinError,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const unique = `qf${process.pid}${Date.now() % 1e6}`

/** A key whose parts have the names of operators. */
@Record({ set: `${unique}r`, key: '{in}:{ne}' })
class Route {
  @Bin() in!: string
  @Bin({ type: 'int' }) ne!: number
}

@Record({ set: `${unique}t`, tenant: true, key: '{tenant}:{in}' })
class Town {
  @Bin() tenant!: string;
  @Bin() in!: string
}

@Record({ set: `${unique}p` })
class Page {
  @Key() id!: number
  @Index() @Bin() name: string = 'page'
  @Bin({ type: 'bigint' }) size?: bigint
  @Bin({ type: 'double' }) rate?: number
  @Sharded({ by: 'hash', shards: 4 }) @Counter() views = 0
  @Index() @ManyToOne(() => Route) route = ref<Route>()
}

@Record({ set: `${unique}s`, tenant: true })
class Stop {
  @Key() id!: number
  @ManyToOne(() => Town) town = ref<Town>()
}

for (const mode of MODES) {
  describe(`unusual conditions (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Route, Town, Page, Stop], (opened) => ({ db } = opened))
    const refusal = (work: () => unknown): Promise<SkeinError> => rejection(async () => work()) as Promise<SkeinError>

    it('calculates with bigints', async () => {
      await db.withSession((session) => {
        for (const [id, size] of [2n ** 60n, 5n, -7n].entries()) session.create(Page, { id, size })
      })
      const ids = async (build: Parameters<ReturnType<typeof db.scan<Page>>['filter']>[0]): Promise<unknown> =>
        (await db.scan(Page).filter(build).keys()).sort()
      expect(await ids((p) => p.size.plus(1n).eq(2n ** 60n + 1n))).to.deep.equal([0])
      expect(await ids((p) => p.size.minus(p.size).eq(0n))).to.deep.equal([0, 1, 2])
      expect(await ids((p) => p.size.times(2n).lt(-13n))).to.deep.equal([2])
      expect(await ids((p) => p.size.abs().mod(5n).in([0n, 2n]))).to.deep.equal([1, 2])
      expect(await ids((p) => p.size.dividedBy(2n).eq(2.5))).to.deep.equal([1])
      expect((await refusal(() => db.scan(Page).filter((p) => p.size.plus(2n ** 64n).gt(1n)))).code).to.equal(
        'SKEIN_2510',
      )
    })

    it('compares calculations with infinity, keeps the sign of a zero, and adds only finite numbers', async () => {
      await db.withSession((session) => {
        for (const [id, rate] of [-1.5, 1.5, Infinity].entries()) session.create(Page, { id, rate })
      })
      const ids = async (build: Parameters<ReturnType<typeof db.scan<Page>>['filter']>[0]): Promise<unknown> =>
        (await db.scan(Page).filter(build).keys()).sort()
      expect(await ids((p) => p.rate.plus(1).lt(Infinity))).to.deep.equal([0, 1])
      expect(await ids((p) => p.rate.plus(1).gt(-Infinity))).to.deep.equal([0, 1, 2])
      expect(await ids((p) => p.id.plus(1).lt(Infinity))).to.deep.equal([0, 1, 2])
      expect(await ids((p) => p.rate.dividedBy(-0).gt(0))).to.deep.equal([0])
      expect(await ids((p) => p.rate.dividedBy(0).gt(0))).to.deep.equal([1, 2])
      expect(await ids((p) => p.id.plus(-0).eq(1))).to.deep.equal([1])
      for (const by of [NaN, Infinity, -Infinity]) {
        const error = await refusal(() => db.scan(Page).update({ rate: inc(by) }))
        expect(error).to.have.property('code', 'SKEIN_2514')
        expect(error.message).to.include(String(by)).and.to.include('Page.rate')
      }
      expect(await ids((p) => p.rate.gt(-2))).to.deep.equal([0, 1, 2])
    })

    it('refuses conditions of more bytes than a server takes, before it asks', async () => {
      const name = 'x'.repeat(2 ** 20)
      for (const work of [
        () => db.scan(Page).where({ name }).count(),
        () => db.scan(Page).where({ name }).update({ rate: 1 }),
        () => db.scan(Page).where({ name }).page({ count: 2 }),
      ]) {
        const error = await refusal(work)
        expect(error).to.have.property('code', 'SKEIN_2510')
        expect(error.message).to.include('a query for Page take 1,048,6').and.to.include('at most 1 MiB')
      }
    })

    it('leaves references that it did not read out of JSON', async () => {
      await db.withSession((session) => void session.create(Page, { id: 5, route: 'a:1' }))
      const [part] = await db.session().query(Page).where({ id: 5 }).only('name').scan().toArray()
      expect(JSON.parse(JSON.stringify(part))).to.not.have.property('route')
      const [whole] = await db.session().query(Page).where({ id: 5 }).scan().toArray()
      expect(JSON.parse(JSON.stringify(whole))).to.have.property('route', 'a:1')
    })

    it('joins thousands of conditions, side by side or one after the other, and refuses what is too deep', async () => {
      await db.withSession((session) => void session.create(Page, { id: 2999 }))
      const all = db.scan(Page)
      const numbers = Array.from({ length: 3000 }, (_, i) => i)
      const chained = all.filter((p) => numbers.slice(1).reduce<Filter>((or, i) => or.or(p.id.eq(i)), p.id.eq(0)))
      expect(await chained.count()).to.equal(1)
      const listed = all.filter((p) => p.id.eq(0).or(...numbers.slice(1).map((i) => p.id.eq(i))))
      expect(await listed.count()).to.equal(1)
      expect(await all.where({ id: { in: numbers } }).count()).to.equal(1)
      const deep = await refusal(() =>
        all.filter((p) => numbers.reduce<Filter>((or, i) => or.or(p.id.eq(i)).not(), p.id.eq(0))),
      )
      expect([deep.code, deep.message]).to.satisfy(
        ([code, message]: string[]) => code === 'SKEIN_2510' && message.includes('nested more than 200 levels'),
      )
      const many = Array.from({ length: 12_000 }, (_, i) => i)
      const large = await refusal(() => all.filter((p) => p.id.eq(0).or(...many.map((i) => p.id.eq(i)))))
      expect(large.message).to.include('more than 50,000 parts')
    })

    it('refuses a malformed regular expression before anything is sent', async () => {
      for (const pattern of ['(', '[a', 'a{2', 'a{3,1}', 'a\\', '*a', '[[:nothing:]]', '[z-a]', 'a{99999}']) {
        const error = await refusal(() => db.scan(Page).where({ name: { regex: pattern } }))
        expect(error.code, pattern).to.equal('SKEIN_2510')
        expect(error.message).to.include('Page.name').and.to.include("'contains'")
        expect((await refusal(() => db.scan(Page).filter((p) => p.name.regex(pattern)))).code).to.equal('SKEIN_2510')
      }
      for (const pattern of [')', 'é|[ü-ý]', '^a{0,3}(b|c)*$', '[]a]', '\\bword\\b', ''])
        expect(
          await db
            .scan(Page)
            .where({ name: { regex: { pattern, ignoreCase: true } } })
            .count(),
        ).to.be.a('number')
    })

    it('says how relations and sharded counters are changed and asked for', async () => {
      const pages = db.query(Page).where({ name: 'page' })
      const relation = await refusal(() => pages.update({ route: null } as never))
      expect([relation.code, relation.message]).to.deep.equal([
        'SKEIN_2514',
        'Page.route is a relation, which a bulk update does not change. Change it in a session.',
      ])
      const counter = await refusal(() => pages.update({ views: inc(1) }))
      expect(counter.code).to.equal('SKEIN_2514')
      expect(counter.message).to.include("session.at(Page, key).counter('views').add(1)")
      const asked = await refusal(() => db.scan(Page).where({ views: { gt: 1 } }))
      expect([asked.code, asked.message]).to.satisfy(
        ([code, message]: string[]) => code === 'SKEIN_2310' && message.includes('is a sharded counter'),
      )
    })

    it('takes all parts of a key for the key, whatever their names', async () => {
      await db.withSession((session) => {
        const route = session.create(Route, { in: 'a', ne: 1 })
        session.create(Page, { id: 1 }).route.set(route)
        session.create(Page, { id: 2 })
      })
      expect(await db.query(Page).where({ route: 'a:1' }).keys()).to.deep.equal([1])
      expect(
        await db
          .query(Page)
          .where({ route: { in: ['a:1', { in: 'b', ne: 2 }] } })
          .keys(),
      ).to.deep.equal([1])
      expect(
        await db
          .scan(Page)
          .where({ route: { ne: 'a:1' } })
          .keys(),
      ).to.deep.equal([2])
      expect(
        await db
          .scan(Page)
          .where({ route: { ne: null } })
          .keys(),
      ).to.deep.equal([1])
      await db.withSession(
        (session) => session.create(Stop, { id: 1 }).town.set(session.create(Town, { tenant: 'acme', in: 'Bern' })),
        { tenant: 'acme' },
      )
      const stops = db.scan(Stop, { tenant: 'acme' })
      expect(await stops.where({ town: { in: 'Bern' } }).keys()).to.deep.equal([1])
    })

    it('says inside a transaction what can be passed to the query', async function () {
      if (mode === 'ap') this.skip()
      await db.transaction(async (session) => {
        for (const query of [db.scan(Page), session.query(Page).scan()]) {
          const error = await refusal(() => query.count())
          expect([error.code, error.message]).to.deep.equal([
            'SKEIN_2313',
            'A query for Page cannot take part in a transaction. Ask before the transaction, or pass { outsideTransaction: true } to query(Page, …) if what is committed will do.',
          ])
        }
        expect(await db.scan(Page, { outsideTransaction: true }).count()).to.equal(0)
      })
    })
  })
}
