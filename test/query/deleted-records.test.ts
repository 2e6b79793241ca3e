import { expect } from 'chai'
import {
  Bin,
  Companion,
  DeletedAt,
  Index,
  Key,
  ManyToMany,
  OneToMany,
  ManyToOne,
  Record,
  collection,
  inc,
  ref,
  type Database,
  type DatabaseQuery,
  type SessionQuery,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'qd_page' })
class Page {
  @Key() id!: number
  @Index() @Bin() city!: string
  @Bin({ type: 'int' }) price!: number
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Book, 'pages') book = ref<Book>()
  @Index() @Companion() @ManyToMany(() => Tag) marks = collection<Tag>()
}

@Record({ set: 'qd_book' })
class Book {
  @Key() id!: number
  @OneToMany(() => Page, 'book', { strategy: 'keyList', onDelete: 'cascade' }) pages = collection<Page>()
}

@Record({ set: 'qd_tag' })
class Tag {
  @Key() id!: number
}

@Record({ set: 'qd_plain' })
class Plain {
  @Key() id!: number
  @Index() @Bin() city!: string
  @Bin({ type: 'int' }) price!: number
  @DeletedAt() deletedAt?: Date
}

type Asked = DatabaseQuery<Page> | SessionQuery<Page>

/** Ids 1 and 2 stay, 3 was deleted softly, and the cascading delete of 4 has begun. */
const STAYING = [1, 2]

/** Every question of a query, as the ids or the price that it shows. */
const QUESTIONS: { readonly [name: string]: readonly [ask: (query: Asked) => Promise<unknown>, answer: unknown] } = {
  toArray: [(query) => query.toArray().then(idsOf), STAYING],
  'for await': [idsIn, STAYING],
  'toArray in order': [async (query) => idsOf(await query.orderBy('price', 'desc').limit(10).toArray()), STAYING],
  'first of an order': [async (query) => (await query.orderBy('price', 'desc').first())?.id, 2],
  count: [(query) => query.count(), 2],
  keys: [async (query) => (await query.keys()).sort(), STAYING],
  page: [async (query) => idsOf(await query.page({ count: 10 })), STAYING],
  'page of an order': [async (query) => idsOf(await query.orderBy('price', 'desc').page({ count: 10 })), STAYING],
  pages: [pagesOf, STAYING],
  sum: [(query) => query.sum('price'), 3],
  avg: [(query) => query.avg('price'), 1.5],
  min: [(query) => query.min('price'), 1],
  max: [(query) => query.max('price'), 2],
  groups: [async (query) => [...(await query.groupBy('price').count()).keys()].sort(), STAYING],
  'exists of one that is not shown': [(query) => query.where({ price: { gt: 2 } }).exists(), false],
  'first of one that is not shown': [(query) => query.where({ price: { gt: 2 } }).first(), null],
}

for (const mode of MODES) {
  describe(`records that are deleted softly, or whose delete has begun (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Page, Book, Tag, Plain], (opened) => ({ db } = opened))

    beforeEach(async () => {
      await db.withSession((session) => {
        const book = session.create(Book, { id: 1 })
        const tag = session.create(Tag, { id: 1 })
        for (let id = 1; id <= 4; id++) {
          const page = session.create(Page, { id, city: 'Bern', price: id })
          page.book.set(book)
          page.marks.add(tag)
          session.create(Plain, { id, city: 'Bern', price: id })
        }
      })
      await db.withSession(async (session) => {
        await session.delete(Page, 3)
        await session.delete(Plain, 3)
      })
      const { namespace: ns, set } = db.model.entity(Page)
      await db.client.put({ ns, set, key: 4 }, { '_sk.deleting': 1 })
    })

    const stored = async (): Promise<unknown[]> => {
      const { namespace: ns, set } = db.model.entity(Page)
      const read = (key: number): Promise<unknown> => db.client.get({ ns, set, key }).then(({ bins }) => bins.price)
      return Promise.all([1, 2, 3, 4].map(read))
    }

    const sources: { readonly [name: string]: () => Asked } = {
      'db.query by an index': () => db.query(Page).where({ city: 'Bern' }),
      'db.scan': () => db.scan(Page),
      'session.query by an index': () => db.session().query(Page).where({ city: 'Bern' }),
      'session.query of the whole set': () => db.session().query(Page).scan(),
      'db.query by members in companion records': () => db.query(Page).whereHas('marks', 1),
    }
    for (const [name, query] of Object.entries(sources)) {
      it(`are left out of every answer of ${name}`, async () => {
        for (const [question, [ask, answer]] of Object.entries(QUESTIONS))
          expect(await ask(query()), question).to.deep.equal(answer)
      })
    }

    it('are shown where the deleted are asked for, except those whose delete has begun', async () => {
      for (const [deleted, ids] of [['only', [3]] as const, ['include', [1, 2, 3]] as const]) {
        for (const query of [db.query(Page, { deleted }), db.session().query(Page, { deleted })]) {
          const found = query.where({ city: 'Bern' })
          expect(idsOf(await found.toArray())).to.deep.equal(ids)
          expect(await idsIn(found)).to.deep.equal(ids)
          expect((await found.keys()).sort()).to.deep.equal(ids)
          expect(await found.count()).to.equal(ids.length)
          expect(await found.exists()).to.equal(true)
          expect(await found.max('price')).to.equal(3)
          expect(await pagesOf(found)).to.deep.equal(ids)
          expect(ids).to.include((await found.first())!.id)
        }
      }
    })

    it('are not changed by a bulk update of the server', async () => {
      expect(
        await db
          .query(Page)
          .where({ city: 'Bern' })
          .update({ price: inc(10) }),
      ).to.deep.equal({
        written: 2,
        failed: 0,
        by: 'server',
      })
      expect(await stored()).to.deep.equal([11, 12, 3, 4])
    })

    it('are not changed by a bulk update through sessions', async () => {
      const result = await db
        .query(Page)
        .where({ city: 'Bern' })
        .update({ price: inc(10), tags: ['new'] })
      expect(result).to.include({ written: 2, by: 'sessions' })
      expect(await stored()).to.deep.equal([11, 12, 3, 4])
    })

    it('are not deleted by a bulk delete, and are not counted by its dry run', async () => {
      const plain = db.query(Plain).where({ city: 'Bern' })
      expect(await plain.delete({ dryRun: true })).to.include({ written: 3 })
      expect(await plain.delete()).to.include({ written: 3, by: 'sessions' })
      expect(await db.scan(Plain, { deleted: 'only' }).count()).to.equal(4)
      const pages = db.query(Page).where({ city: 'Bern' })
      expect(await pages.delete({ dryRun: true })).to.include({ written: 2 })
      expect(await pages.delete()).to.include({ written: 2 })
      expect(idsOf(await db.scan(Page, { deleted: 'only' }).toArray())).to.deep.equal([1, 2, 3])
      expect(await stored()).to.deep.equal([1, 2, 3, 4])
    })
  })
}

const idsOf = (pages: readonly Page[]): number[] => pages.map(({ id }) => id).sort()

async function idsIn(query: Asked): Promise<number[]> {
  const pages: Page[] = []
  for await (const page of query) pages.push(page)
  return idsOf(pages)
}

async function pagesOf(query: Asked): Promise<number[]> {
  const found: Page[] = []
  for (let after: string | undefined; ;) {
    const page = await query.page({ count: 1, after })
    found.push(...page)
    if (page.next === undefined) return idsOf(found)
    after = page.next
  }
}
