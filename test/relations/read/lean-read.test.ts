import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'
import type { Database, SkeinError } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'lean-topic' })
class Topic {
  @Key() id!: string
  @Bin() title!: string
}

@Record({ set: 'lean-cover' })
class Cover {
  @Key() id!: number
  @Bin() color!: string
}

@Embeddable()
class Page {
  @Key() number!: number
  @Bin() text!: string
  @ManyToOne(() => Topic, { eager: true }) topic = ref<Topic>()
}

@Embeddable()
class Grade {
  @Key() reader!: string
  @Bin() points!: number
}

@Record({ set: 'lean-book' })
class Book {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Topic) topic = ref<Topic>()
  @OneToOne(() => Cover, { strategy: 'sharedKey' }) cover = ref<Cover>()
  @ManyToMany(() => Topic) topics = collection<Topic>()
  @OneToMany(() => Page, { strategy: 'consolidate' }) pages = collection<Page>()
  @OneToMany(() => Grade, { strategy: 'consolidate', sortKey: ['points'] }) grades = collection<Grade>()
  @OneToMany(() => Grade, { strategy: 'consolidate', eager: false }) drafts = collection<Grade>()
}

const CLASSES = [Topic, Cover, Book]
const grade = (reader: string, points: number) => Object.assign(new Grade(), { reader, points })

for (const mode of MODES) {
  describe(`db.read of classes with relations (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const topic = session.create(Topic, { id: 'sea', title: 'The sea' })
        for (const id of [1, 2]) {
          const book = session.create(Book, { id, title: `book ${id}` })
          book.topic.set(topic)
          book.topics.add(topic)
          book.cover.set(session.create(Cover, { id, color: 'blue' }))
          for (const number of [10, -3, 2]) {
            const page = Object.assign(new Page(), { number, text: `page ${number}` })
            page.topic.set(topic)
            book.pages.add(page)
          }
          book.grades.add(grade('ann', 5), grade('bo', -2), grade('cy', 3))
          book.drafts.add(grade('ann', 1))
        }
      })
    })

    const read = async (id = 1): Promise<Book> => (await db.read(Book, [id]))[0]!

    it('fills the collections whose members are in the record, in their order, with the same one read', async function () {
      let books: (Book | null)[] = []
      const work = async () => (books = await db.read(Book, [1, 2, 3]))
      if (server.embedded === undefined) await work()
      else expect((await server.embedded.commands.during(work)).commands).to.equal(1)
      expect(books[2]).to.equal(null)
      for (const book of books.slice(0, 2)) {
        expect(book!.pages.isLoaded).to.equal(true)
        expect(book!.pages.items.map(({ number }) => number)).to.deep.equal([-3, 2, 10])
        expect(book!.pages.items[0]).to.be.instanceOf(Page)
        expect(book!.pages.items.map(({ topic }) => topic.key)).to.deep.equal(['sea', 'sea', 'sea'])
        expect([...book!.grades].map(({ reader }) => reader)).to.deep.equal(['bo', 'cy', 'ann'])
      }
      expect(JSON.parse(JSON.stringify(books[0]))).to.deep.include({ id: 1, title: 'book 1' })
    })

    it('lets them answer from memory', async () => {
      const { pages, grades } = await read()
      expect((await pages.get(2))?.text).to.equal('page 2')
      expect(await pages.get(3)).to.equal(null)
      expect(await pages.count()).to.equal(3)
      expect(await pages.contains(10)).to.equal(true)
      expect(await grades.indexOf('ann')).to.equal(2)
      expect((await grades.range({ from: 0, to: 4 })).map(({ reader }) => reader)).to.deep.equal(['cy'])
      expect((await grades.last(1))[0].reader).to.equal('ann')
      expect(await grades.keys()).to.deep.equal(['bo', 'cy', 'ann'])
    })

    it('knows the keys of references, and says of what is elsewhere that it is not loaded', async () => {
      const book = await read()
      expect(book.topic.key).to.equal('sea')
      expect(book.topic.isLoaded).to.equal(false)
      expect(book.cover.isLoaded).to.equal(false)
      const codes = await Promise.all(
        [
          () => book.topic.value,
          () => book.topic.load(),
          () => book.pages.items[0].topic.load(),
          () => book.cover.value,
          () => book.topics.items,
          () => book.topics.count(),
          () => book.topics.load(),
          () => book.drafts.items,
          () => book.drafts.get('ann'),
        ].map(async (ask) => ((await rejection(async () => ask())) as SkeinError).code),
      )
      const [UNLOADED_REF, UNLOADED, NO_SESSION] = ['SKEIN_2401', 'SKEIN_2402', 'SKEIN_2403']
      expect(codes).to.deep.equal([
        ...[UNLOADED_REF, NO_SESSION, NO_SESSION, UNLOADED_REF],
        ...[UNLOADED, NO_SESSION, NO_SESSION, UNLOADED, NO_SESSION],
      ])
    })

    it('knows nothing of what `only` leaves out', async () => {
      const [book] = await db.read(Book, [1], { only: ['title'] })
      expect(book!.title).to.equal('book 1')
      for (const each of [book!.topic, book!.pages, book!.grades]) expect(each.isLoaded).to.equal(false)
    })

    it('gives instances that a session can take in', async () => {
      const book = await read()
      book.pages.add(Object.assign(new Page(), { number: 4, text: 'new' }))
      book.grades.items[0].points = 9
      await db.session().upsert(book)
      const now = await db.session().load(Book, 1)
      expect(now.pages.items.map(({ number }) => number)).to.deep.equal([-3, 2, 4, 10])
      expect(now.grades.items.map(({ reader }) => reader)).to.deep.equal(['cy', 'ann', 'bo'])
      expect(now.topic.key).to.equal('sea')
    })

    it('gives instances whose removals an upsert carries out, as it does additions', async () => {
      const book = await read()
      book.pages.remove(2)
      book.pages.remove(book.pages.items[0])
      book.pages.add(Object.assign(new Page(), { number: 4, text: 'new' }))
      book.grades.remove('cy')
      book.drafts.remove('ann')
      book.topics.remove('sea')
      await db.session().upsert(book)
      const now = await db.session().load(Book, 1, { with: ['topics', 'drafts'] })
      expect(now.pages.items.map(({ number }) => number)).to.deep.equal([4, 10])
      expect(now.grades.items.map(({ reader }) => reader)).to.deep.equal(['bo', 'ann'])
      expect([now.drafts.items, now.topics.items]).to.deep.equal([[], []])
      for await (const finding of db.verify(CLASSES, { settle: 0 })) expect.fail(finding.message)
    })

    it('is like what a session has detached: what was not loaded does not look empty', async () => {
      const session = db.session()
      const book = await session.load(Book, 1)
      session.clear()
      expect(book.topics.isLoaded).to.equal(false)
      expect(((await rejection(async () => book.topics.items)) as SkeinError).code).to.equal('SKEIN_2402')
      expect((await book.pages.get(2))?.text).to.equal('page 2')
    })
  })
}
