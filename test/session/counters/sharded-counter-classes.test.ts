import { expect } from 'chai'
import {
  AfterLoad,
  Bin,
  collection,
  Counter,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Database,
} from 'skein'
import { commandWords } from '../../command-words.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'shk_media', discriminator: 'kind' })
abstract class Media {
  @Key() id!: number
  @Bin() title!: string
}

@Record({ discriminatorValue: 'film' })
class Film extends Media {
  @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
  seen = 0
  @AfterLoad() note(): void {
    this.seen = this.views
  }
  @OneToMany(() => Review, 'film', { onDelete: 'cascade' }) reviews = collection<Review>()
}

@Record({ discriminatorValue: 'song' })
class Song extends Media {
  @Sharded({ by: 'hash', shards: 3 }) @Counter() plays = 0
}

@Record({ set: 'shk_review' })
class Review {
  @Key({ type: 'bytes' }) id!: Buffer
  @ManyToOne(() => Film, 'reviews') film = ref<Film>()
  @Sharded({ by: 'hash', shards: 2 }) @Counter() likes = 0
}

const CLASSES = [Media, Film, Song, Review]
const ID = Buffer.from([1, 2, 3])

for (const mode of MODES) {
  describe(`sharded counters of related classes and subclasses (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))

    beforeEach(async () => {
      await db.withSession((session) => {
        const film = session.create(Film, { id: 1, title: 'f', views: 10 })
        session.create(Song, { id: 2, title: 's', plays: 5 })
        session.create(Review, { id: ID, film })
      })
      for (let i = 0; i < 6; i++)
        await db.withSession(async (session) => {
          ;(await session.load(Film, 1)).views += 1
          session
            .at(await session.load(Song, 2))
            .counter('plays')
            .add(2)
          session.at(Review, ID).counter('likes').add(1)
        })
    })

    it('are whole when they are loaded by their base class, and by relations', async () => {
      const session = db.session()
      const [film, song] = (await session.loadMany(Media, [1, 2])) as [Film, Song]
      expect([film.views, song.plays]).to.deep.equal([16, 17])
      const review = await db.session().load(Review, ID, { with: ['film'] })
      expect([review.likes, review.film.value!.views]).to.deep.equal([6, 16])
      const [found] = (await db.session().load(Film, 1, { with: ['reviews'] })).reviews.items
      expect(found.likes).to.equal(6)
      expect((await session.walk(film).out('reviews').entities()).map(({ likes }) => likes)).to.deep.equal([6])
    })

    it('are there before the hook that runs after a load', async () => {
      expect((await db.session().load(Film, 1)).seen).to.equal(16)
    })

    it('are added to by one command each in one flush', async () => {
      const session = db.session()
      const [film, song] = (await session.loadMany(Media, [1, 2])) as [Film, Song]
      film.views++
      song.plays++
      session.at(Review, ID).counter('likes').add(1)
      const words = await commandWords(server, () => session.flush())
      expect(words).to.deep.equal(['write', 'write', 'write'])
      expect((await db.read(Film, [1]))[0]!.views).to.equal(17)
    })

    it('go with what a delete cascades to', async () => {
      await db.session().delete(Film, 1)
      await db.withSession((session) => void session.create(Review, { id: ID }))
      expect((await db.read(Review, [ID]))[0]!.likes).to.equal(0)
    })
  })
}
