import { expect } from 'chai'
import {
  BeforeDelete,
  Bin,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  VersionConflictError,
  collection,
  ref,
  type Database,
} from 'skein'
import { rejection } from '../../session/rejection.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'shelf' })
class Shelf {
  @Key() id!: number
  @OneToMany(() => Book, 'shelf', { orphans: 'delete' }) books = collection<Book>()
  @OneToMany(() => Film, 'shelf', { strategy: 'secondaryIndex', onDelete: 'detach', orphans: 'delete' })
  films = collection<Film>()
  @OneToMany(() => Map, { orphans: 'delete' }) maps = collection<Map>()
}

@Record({ set: 'book' })
class Book {
  @Key() id!: number
  @ManyToOne(() => Shelf, 'books') shelf = ref<Shelf>()
  @OneToMany(() => Page, 'book', { onDelete: 'cascade', orphans: 'delete' }) pages = collection<Page>()
  @OneToMany(() => Note, 'book', { strategy: 'secondaryIndex', onDelete: 'cascade', orphans: 'delete' })
  notes = collection<Note>()
}

@Record({ set: 'film' })
class Film {
  static deletes = 0
  @Key() id!: number
  @Bin() title?: string
  @Version() version?: number
  @ManyToOne(() => Shelf, 'films') shelf = ref<Shelf>()
  @BeforeDelete() count(): void {
    Film.deletes++
  }
}

@Record({ set: 'map' })
class Map {
  @Key() id!: number
}

@Record({ set: 'page' })
class Page {
  @Key() id!: number
  @ManyToOne(() => Book, 'pages') book = ref<Book>()
}

@Record({ set: 'note' })
class Note {
  @Key() id!: number
  @ManyToOne(() => Book, 'notes') book = ref<Book>()
}

@Record({ set: 'atlas' })
class Atlas {
  @Key() id!: number
  @OneToMany(() => Map, { onDelete: 'cascade', orphans: 'delete' }) sheets = collection<Map>()
  @OneToMany(() => Map, { onDelete: 'restrict', orphans: 'delete' }) inlays = collection<Map>()
  @OneToMany(() => Map, { onDelete: 'cascade' }) loose = collection<Map>()
}

const ENTITIES = [Shelf, Book, Film, Map, Page, Note, Atlas]

for (const mode of MODES) {
  describe(`orphans that are deleted (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const [one] = [1, 2].map((id) => session.create(Shelf, { id }))
        for (const id of [1, 2]) {
          const book = session.create(Book, { id })
          book.pages.add(session.create(Page, { id }))
          one.books.add(book)
          one.films.add(session.create(Film, { id }))
        }
        return Promise.resolve()
      })
    })

    for (const [name, Child] of [
      ['books', Book],
      ['films', Film],
    ] as const) {
      const shelves = async (): Promise<unknown> =>
        (await db.session().findMany<Book | Film>(Child, [1, 2])).map((each) => each?.shelf.key ?? null)

      for (const loaded of [undefined, [], [name]] as const) {
        const how = loaded === undefined ? 'not there' : loaded.length === 0 ? 'loaded' : 'loaded with them'
        it(`are those among ${name} whose reference is set to nothing, the parent being ${how}`, async () => {
          const session = db.session()
          if (loaded !== undefined) await session.load(Shelf, 1, { with: [...loaded] })
          ;(await session.load<Book | Film>(Child, 1)).shelf.set(null)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await db.session().find<Book | Film>(Child, 1)).to.equal(null)
          const pages = await db.session().at(Book, 1).collection('pages').keys()
          if (name === 'books') expect([pages, await db.session().find(Page, 1)]).to.deep.equal([[], null])
          expect(await db.session().at(Shelf, 1).collection(name).keys()).to.deep.equal([2])
        })

        it(`are not those among ${name} that never had a parent, the parent being ${how}`, async () => {
          await db.withSession((session) => Promise.resolve(void session.create<Book | Film>(Child, { id: 3 })))
          const session = db.session()
          if (loaded !== undefined) await session.load(Shelf, 1, { with: [...loaded] })
          const child = await session.load<Book | Film>(Child, 3)
          child.shelf.set(1)
          child.shelf.set(null)
          await session.flush()
          expect(await db.session().find<Book | Film>(Child, 3)).to.not.equal(null)
        })
      }

      it(`are not those among ${name} that another session has moved meanwhile`, async () => {
        const session = db.session()
        const shelf = await session.load(Shelf, 1, { with: [name] })
        const [first, second] = shelf[name].items
        shelf[name].remove(first as never, second as never)
        await db.withSession((other) => Promise.resolve(void other.at(Shelf, 2).collection(name).add(1)))
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await shelves()).to.deep.equal([2, null])
        expect(await db.session().find<Book | Film>(Child, 2)).to.equal(null)
        expect(first.shelf.key).to.equal(2)
        expect(await db.session().at(Shelf, 1).collection(name).keys()).to.deep.equal([])
        expect(await db.session().at(Shelf, 2).collection(name).keys()).to.deep.equal([1])
        const pages = await db.session().findMany(Page, [1, 2])
        if (name === 'books') expect(pages.map((page) => page?.book.key ?? null)).to.deep.equal([1, null])
      })

      it(`are those among ${name} that the user deletes, whoever has moved them`, async () => {
        const session = db.session()
        const shelf = await session.load(Shelf, 1, { with: [name] })
        const [first] = shelf[name].items
        shelf[name].remove(first as never)
        session.remove(first)
        await db.withSession((other) => Promise.resolve(void other.at(Shelf, 2).collection(name).add(1)))
        await session.flush()
        expect(await db.session().find<Book | Film>(Child, 1)).to.equal(null)
        expect(await db.session().at(Shelf, 2).collection(name).keys()).to.deep.equal([])
      })
    }

    it('do not include children that their deleted parent detaches', async () => {
      const session = db.session()
      const [one, film] = [await session.load(Shelf, 1, { with: ['films'] }), await session.load(Film, 1)]
      film.shelf.set(null)
      await session.delete(one)
      await session.flush()
      const films = await db.session().findMany(Film, [1, 2])
      expect(films.map((each) => each?.shelf.key)).to.deep.equal([null, null])
    })

    for (const [name, Child] of [
      ['pages', Page],
      ['notes', Note],
    ] as const) {
      for (const loaded of [[], [name]] as const) {
        const how = loaded.length === 0 ? 'loaded' : 'loaded with them'
        it(`are those among ${name} that were taken out before their parent is deleted, which is ${how}`, async () => {
          await db.withSession((first) => {
            for (const id of [6, 7, 8, 9])
              first.at(Book, 1).collection(name).add(first.create<Page | Note>(Child, { id }))
            return Promise.resolve()
          })
          await db.withSession(async (session) => {
            const [book, other] = [await session.load(Book, 1, { with: loaded }), await session.load(Book, 2)]
            const [eighth, sixth] = [
              await session.load<Page | Note>(Child, 8),
              await session.load<Page | Note>(Child, 6),
            ]
            book[name].remove(eighth, 9)
            other[name].add(sixth)
            session.remove(book)
          })
          const left = await db.session().findMany<Page | Note>(Child, [6, 7, 8, 9])
          expect(left.map((each) => each?.book.key ?? null)).to.deep.equal([2, null, null, null])
        })
      }
    }

    it('are refused where their version has changed, and can be deleted afterwards', async () => {
      const session = db.session()
      const shelf = await session.load(Shelf, 1, { with: ['films'] })
      const [film] = shelf.films.items
      shelf.films.remove(film)
      await db.withSession(async (other) => ((await other.load(Film, 1)).title = 'new'))
      expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
      Film.deletes = 0
      await session.delete(Film, 1)
      expect(await db.session().find(Film, 1)).to.equal(null)
      expect(Film.deletes).to.equal(1)
    })

    describe('of a list on one side', () => {
      beforeEach(() =>
        db.withSession(async (session) => {
          const [one, two] = await session.loadMany(Shelf, [1, 2])
          const maps = [1, 2, 3].map((id) => session.create(Map, { id }))
          one.maps.add(maps[0])
          two.maps.add(maps[1])
        }),
      )
      const left = async (): Promise<unknown> =>
        (await db.session().findMany(Map, [1, 2, 3])).map((each) => each?.id ?? null)

      it('are those that were in it, whether it is loaded or not', async () => {
        const session = db.session()
        session.at(Shelf, 1).collection('maps').remove(1, 2, 3)
        const { commands } = await server.commands.during(() => session.flush())
        expect(session.isDirty()).to.equal(false)
        expect(await left()).to.deep.equal([null, 2, 3])
        expect(await db.session().at(Shelf, 2).collection('maps').keys()).to.deep.equal([2])
        // The children and the list; the removal; the deletes.
        if (mode === 'ap') expect(commands).to.equal(3)
        const loading = db.session()
        const two = await loading.load(Shelf, 2, { with: ['maps'] })
        two.maps.remove(2, 3)
        await loading.flush()
        expect(await left()).to.deep.equal([null, null, 3])
      })

      it('are those that were in it when it was loaded after they were taken out', async () => {
        const session = db.session()
        const members = session.at(Shelf, 1).collection('maps')
        members.remove(1, await session.load(Map, 2))
        await members.load()
        await session.flush()
        expect(await left()).to.deep.equal([null, 2, 3])
      })

      for (const name of ['sheets', 'inlays', 'loose'] as const) {
        for (const path of [[], [name]]) {
          const how = path.length === 0 ? 'not loaded' : 'loaded'
          it(`are ${name === 'loose' ? 'not ' : ''}what leaves ${name}, ${how}, in the flush that deletes the parent`, async () => {
            await db.withSession((session) => {
              const atlas = session.create(Atlas, { id: 1 })
              for (const id of [4, 5]) atlas[name].add(session.create(Map, { id }))
              return Promise.resolve()
            })
            const session = db.session()
            const atlas = await session.load(Atlas, 1, { with: path })
            atlas[name].remove(4, await session.load(Map, 5))
            session.remove(atlas)
            await session.flush()
            expect(session.isDirty()).to.equal(false)
            expect(await db.session().find(Atlas, 1)).to.equal(null)
            const stored = (await db.session().findMany(Map, [4, 5])).map((each) => each?.id ?? null)
            expect(stored).to.deep.equal(name === 'loose' ? [4, 5] : [null, null])
            const findings = []
            for await (const { message } of db.verify([Atlas, Map], { settle: 0 })) findings.push(message)
            expect(findings).to.deep.equal([])
          })
        }
      }
    })
  })
}
