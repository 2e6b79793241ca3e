import { expect } from 'chai'
import { collection, Bin, Key, ManyToOne, OneToMany, Record, ref, type Database, type Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'looked_shelf' })
class Shelf {
  @Key() id!: number
  @OneToMany(() => Book, 'shelf') books = collection<Book>()
}

@Record({ set: 'looked_book' })
class Book {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Shelf, 'books') shelf = ref<Shelf>()
}

const IDS = [1, 2, 3, 4]

for (const mode of MODES) {
  describe(`a session that detaches one entity among many (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Shelf, Book], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const shelf = session.create(Shelf, { id: 1 })
        for (const id of IDS) shelf.books.add(session.create(Book, { id, title: `book ${id}` }))
        return session.flush()
      }),
    )

    const WAYS: { readonly [title: string]: (session: Session, book: Book) => unknown } = {
      detached: (session, book) => session.detach(book),
      deleted: (session, book) => session.delete(book),
      'deleted by its key': (session, { id }) => session.delete(Book, id),
    }
    for (const [title, drop] of Object.entries(WAYS)) {
      it(`looks at no relation that cannot lead to it when it is ${title}`, async () => {
        const session = db.session()
        const shelf = await session.load(Shelf, 1, { with: ['books'] })
        const [first, ...others] = shelf.books.items
        const looks = countLooks(others)
        await drop(session, first)
        expect(looks()).to.equal(0)
        if (title !== 'detached') expect(shelf.books.items).to.deep.equal(others)
      })
    }
  })
}

/** Number of times that the references of these were read. */
function countLooks(books: readonly Book[]): () => number {
  let looks = 0
  for (const book of books) {
    const { shelf } = book
    const get = (): Book['shelf'] => {
      looks++
      return shelf
    }
    Object.defineProperty(book, 'shelf', { get, enumerable: true, configurable: true })
  }
  return () => looks
}
