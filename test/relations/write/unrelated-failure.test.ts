import { expect } from 'chai'
import {
  Bin,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PartialFailureError,
  Record,
  Version,
  collection,
  ref,
  type Database,
} from 'skein'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { commandWords } from '../../command-words.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'apart-shelf' })
class Shelf {
  @Key() id!: number
  @Version() version?: number
  @Bin() name?: string
  @OneToMany(() => Book, 'shelf', { onDelete: 'cascade' }) books = collection<Book>()
}

@Record({ set: 'apart-book' })
class Book {
  @Key() id!: number
  @ManyToOne(() => Shelf, 'books') shelf = ref<Shelf>()
}

@Record({ set: 'apart-reader' })
class Reader {
  @Key() id!: number
  @ManyToMany(() => Club, 'readers', { owner: true }) clubs = collection<Club>()
  @OneToMany(() => Note) notes = collection<Note>()
}

@Record({ set: 'apart-club' })
class Club {
  @Key() id!: number
  @ManyToMany(() => Reader, 'clubs') readers = collection<Reader>()
}

@Record({ set: 'apart-note' })
class Note {
  @Key() id!: number
  @Bin() text?: string
}

const CLASSES = [Shelf, Book, Reader, Club, Note]
const MISSING = 99

for (const mode of MODES) {
  describe(`a change that cannot be made (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const id of [1, 2]) {
          session.create(Shelf, { id }).books.add(session.create(Book, { id }))
          session.create(Reader, { id })
        }
        session.create(Club, { id: 1 })
        return Promise.resolve()
      })
    })

    const keysOf = (id: number) => db.session().at(Shelf, id).collection('books').keys()
    const shelfOf = async (id: number) => (await db.session().load(Book, id)).shelf.key

    it('leaves no unrelated change half done', async () => {
      const session = db.session()
      const [first, second] = await session.loadMany(Book, [1, 2])
      first.shelf.set(null)
      second.shelf.set(1)
      session.at(Reader, MISSING).collection('clubs').add(1)
      const failure = await rejection(() => session.flush())
      expect(failure).to.be.instanceOf(PartialFailureError)
      expect(await shelfOf(1)).to.equal(null)
      expect(await shelfOf(2)).to.equal(1)
      expect(await keysOf(1)).to.deep.equal([2])
      expect(await keysOf(2)).to.deep.equal([])
      expect([first, second].map((book) => session.isDirty(book))).to.deep.equal([false, false])
      expect(session.isDirty()).to.equal(true)
    })

    it('costs unrelated changes no round trips: a stage is one batch, whatever failed before', async () => {
      const trips = async (isFailing: boolean): Promise<number> => {
        const session = db.session()
        const [first, second] = await session.loadMany(Book, [1, 2])
        first.shelf.set(isFailing ? null : 2)
        second.shelf.set(isFailing ? null : 1)
        if (isFailing) session.at(Reader, MISSING).collection('clubs').add(1)
        const flush = () => session.flush({ transactions: 'off' }).catch(() => undefined)
        return (await commandWords(server, flush)).length
      }
      expectRoundTrips(await trips(false), 4)
      // Expects the same stages, the one that takes back the link, and beside it the read that checks the lists.
      expectRoundTrips(await trips(true), 5)
    })

    it('keeps no unrelated entity from being deleted with what it reaches', async () => {
      const session = db.session()
      session.remove(await session.load(Shelf, 1))
      session.at(Reader, MISSING).collection('clubs').add(1)
      expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
      expect(await db.session().find(Shelf, 1)).to.equal(null)
      expect(await db.session().find(Book, 1)).to.equal(null)
    })

    it('keeps no unrelated delete from going on when another one is refused', async () => {
      const session = db.session()
      const [first, second] = await session.loadMany(Shelf, [1, 2])
      await db.withSession(async (other) => void ((await other.load(Shelf, 2)).name = 'new'))
      session.remove(first)
      session.remove(second)
      expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
      expect(await db.session().find(Shelf, 1)).to.equal(null)
      expect(await db.session().find(Book, 1)).to.equal(null)
      expect((await db.session().load(Shelf, 2)).name).to.equal('new')
      expect(await keysOf(2)).to.deep.equal([2])
      expect(await shelfOf(2)).to.equal(2)
    })

    it('keeps back all that depends on it', async () => {
      await db.withSession((other) => Promise.resolve(void other.create(Note, { id: 1, text: 'old' })))
      const session = db.session()
      const readers = await session.loadMany(Reader, [1, 2])
      const note = session.create(Note, { id: 1, text: 'new' })
      for (const reader of readers) reader.notes.add(note)
      ;(await session.load(Book, 1)).shelf.set(2)
      expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
      for (const id of [1, 2]) {
        expect(await db.session().at(Reader, id).collection('notes').keys()).to.deep.equal([])
      }
      expect(await keysOf(1)).to.deep.equal([])
      expect(await keysOf(2)).to.deep.equal([1, 2])
    })
  })
}
