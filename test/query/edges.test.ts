import { expect } from 'chai'
import { Bin, Index, Key, ManyToOne, Record, ref, type Database, type Page, type Query, type SkeinError } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qe${process.pid}${Date.now() % 1e6}`
const MOST = 2n ** 63n - 1n
const LEAST = -(2n ** 63n)

@Record({ set: `${unique}e` })
class Edge {
  @Key() id!: number
  @Index() @Bin({ type: 'bigint' }) big?: bigint
  @Index() @Bin() name?: string
  @Index() @Bin({ type: 'bytes' }) seal?: Buffer
  @Index() @Bin({ type: { list: 'string' } }) tags?: string[]
  @Bin({ type: 'double' }) rating?: number
  @Bin({ type: { list: 'double' } }) marks?: number[]
  @Bin({ type: { map: 'double' } }) votes?: Map<string, number>
  @Bin({ type: 'int' }) low?: number
  @Bin({ type: 'int' }) high?: number
}

@Record({ set: `${unique}o`, tenant: true })
class Owner {
  @Key() id!: string
}

@Record({ set: `${unique}t`, tenant: true })
class Thing {
  @Key() id!: string
  @ManyToOne(() => Owner) owner = ref<Owner>()
}

for (const mode of MODES) {
  describe(`values at the edges of a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Edge, Owner, Thing], (opened) => ({ db } = opened))

    const store = (...values: Partial<Edge>[]): Promise<void> =>
      db.withSession((session) =>
        values.forEach((each, id) => void session.persist(Object.assign(new Edge(), { id }, each))),
      )
    const ids = async (query: Query<Edge>): Promise<number[]> => (await query.toArray()).map(({ id }) => id).sort()

    const failure = (work: () => Promise<unknown>): Promise<SkeinError> =>
      Promise.resolve()
        .then(work)
        .then(
          () => expect.fail('nothing was thrown'),
          (error: unknown) => error as SkeinError,
        )

    it('finds nothing beyond the ends of what a bigint holds', async () => {
      await store({ big: MOST }, { big: LEAST }, { big: MOST - 1n })
      const edges = db.query(Edge)
      expect(await ids(edges.where({ big: { gt: MOST } }))).to.deep.equal([])
      expect(await ids(edges.filter((e) => e.big.gt(MOST)))).to.deep.equal([])
      expect(await ids(edges.where({ big: { lt: LEAST } }))).to.deep.equal([])
      expect(await ids(edges.where({ big: { gt: MOST - 1n } }))).to.deep.equal([0])
      expect(await ids(edges.where({ big: { gte: MOST } }))).to.deep.equal([0])
      expect(await ids(edges.where({ big: { lte: MOST } }))).to.deep.equal([0, 1, 2])
    })

    it('looks for values that are too long for an index by a filter, and only in a scan or by another index', async () => {
      const long = 'x'.repeat(2048)
      const short = 'x'.repeat(2047)
      await store({ name: long, seal: Buffer.from(long), tags: ['a', long], big: 1n }, { name: short, tags: [short] })
      const asked = [
        { name: long },
        { name: { in: ['a', long] } },
        { seal: Buffer.from(long) },
        { tags: { has: long } },
        { tags: { hasAny: ['a', long] } },
      ]
      for (const where of asked) {
        expect(await ids(db.scan(Edge).where(where))).to.deep.equal([0])
        expect(await ids(db.query(Edge).where({ ...where, big: 1n }))).to.deep.equal([0])
        const error = await failure(() => db.query(Edge).where(where).toArray())
        expect(error.code).to.equal('SKEIN_2511')
        expect(error.message).to.include('2048 bytes').and.to.include('.scan()').and.not.to.include('Add @Index')
      }
      expect(await ids(db.query(Edge).where({ tags: { hasAll: [long, 'a'] } }))).to.deep.equal([0])
      expect(await ids(db.query(Edge).where({ name: short }))).to.deep.equal([1])
      expect(await ids(db.query(Edge).where({ tags: { has: short } }))).to.deep.equal([1])
    })

    it('takes NaN for no number that is asked for, and refuses it as a value', async () => {
      await store({ rating: NaN, marks: [1] }, { rating: 1 }, { rating: 2.5 }, {})
      const all = db.scan(Edge)
      expect(await ids(all.where({ rating: { in: [1, 7] } }))).to.deep.equal([1])
      expect(await ids(all.where({ rating: { notIn: [1, 7] } }))).to.deep.equal([0, 2, 3])
      expect(await ids(all.filter((e) => e.rating.in([1, 7]).not()))).to.deep.equal([0, 2, 3])
      expect(await ids(all.filter((e) => e.rating.eq(e.rating).not().and(e.rating.ne(null))))).to.deep.equal([0])
      const asked = [
        { rating: NaN },
        { rating: { ne: NaN } },
        { rating: { gt: NaN } },
        { rating: { between: [0, NaN] as const } },
        { rating: { in: [1, NaN] } },
        { marks: { has: NaN } },
        { marks: { hasAny: [1, NaN] } },
      ]
      for (const where of asked) {
        const error = await failure(() => all.where(where).toArray())
        expect(error.code).to.equal('SKEIN_2510')
        expect(error.message).to.include('rating' in where ? 'filter(' : 'No condition finds it')
      }
    })

    it('takes NaN in a list or a map for no member that is asked for', async () => {
      const doubles = [0, -0, 0.5, -2.5, 1e308, 5e-324, -Infinity, 2 ** 53, 0.1 + 0.2]
      await store(
        { marks: [NaN], votes: new Map([['a', NaN]]) },
        {
          marks: doubles,
          votes: new Map([
            ['a', 0.1],
            ['b', -2.5],
          ]),
        },
      )
      for (const each of doubles) {
        expect(await ids(db.scan(Edge).where({ marks: { has: each } })), String(each)).to.deep.equal([1])
        expect(await ids(db.scan(Edge).filter((e) => e.marks.has(each).not()))).to.deep.equal([0])
      }
      for (const each of [0.3, 7, -1e-300, Number.MAX_VALUE])
        expect(await ids(db.scan(Edge).where({ marks: { has: each } })), String(each)).to.deep.equal([])
      expect(await ids(db.scan(Edge).where({ marks: { hasAny: [7, 0.5] } }))).to.deep.equal([1])
      expect(await ids(db.scan(Edge).where({ marks: { hasAny: [7, 8] } }))).to.deep.equal([])
      expect(await ids(db.scan(Edge).where({ marks: { hasAll: [0, 0.5] } }))).to.deep.equal([1])
      expect(await ids(db.scan(Edge).where({ votes: { hasValue: -2.5 } }))).to.deep.equal([1])
      expect(await ids(db.scan(Edge).where({ votes: { hasAnyValue: [1, 0.1] } }))).to.deep.equal([1])
      expect(await ids(db.scan(Edge).where({ votes: { hasValue: 3 } }))).to.deep.equal([])
    })

    it('gives records with NaN in ordered pages, and in a group of their own', async () => {
      const ratings = [NaN, 3, Infinity, -Infinity, 1, NaN, undefined]
      await store(...ratings.map((rating) => ({ rating })))
      for (const direction of ['asc', 'desc'] as const) {
        const query = db.scan(Edge).orderBy('rating', direction)
        const seen: number[] = []
        for (let page: Page<Edge> | undefined, after: string | undefined; !page || after; after = page.next) {
          page = await query.page({ count: 2, after })
          seen.push(...page.map(({ id }) => id))
        }
        expect(seen.slice(0, 4)).to.deep.equal(direction === 'asc' ? [3, 4, 1, 2] : [2, 1, 4, 3])
        expect(seen.slice(4).sort()).to.deep.equal([0, 5, 6])
      }
      const counts = await db.scan(Edge).groupBy('rating').count()
      expect(counts).to.deep.equal(
        new Map([
          [NaN, 2],
          [3, 1],
          [Infinity, 1],
          [-Infinity, 1],
          [1, 1],
          [null, 1],
        ]),
      )
    })

    it('groups by references under the keys that people use', async () => {
      await db.withSession(
        (session) => {
          const owner = session.create(Owner, { id: 'o1' })
          session.create(Thing, { id: 'a' }).owner.set(owner)
          session.create(Thing, { id: 'b' })
        },
        { tenant: 'acme' },
      )
      const counts = await db
        .scan(Thing, { tenant: 'acme' })
        .groupBy('owner' as never)
        .count()
      expect(counts).to.deep.equal(
        new Map([
          ['o1', 1],
          [null, 1],
        ]),
      )
    })

    it('lets ne of a calculation hold where a value is missing, as notIn does', async () => {
      await store({ low: 1, high: 2 }, { low: 1, high: 1 }, { low: 1 }, {})
      const all = db.scan(Edge)
      expect(await ids(all.filter((e) => e.low.plus(e.high).ne(3)))).to.deep.equal([1, 2, 3])
      expect(await ids(all.filter((e) => e.low.plus(e.high).notIn([3, 7])))).to.deep.equal([1, 2, 3])
      expect(await ids(all.filter((e) => e.low.ne(e.high)))).to.deep.equal([0, 2, 3])
      expect(await ids(all.filter((e) => e.low.plus(e.high).ne(3).not()))).to.deep.equal([0])
    })
  })
}
