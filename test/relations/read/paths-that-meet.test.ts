import { expect } from 'chai'
import { Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'met-person' })
class Person {
  @Key() id!: number
  @OneToMany(() => Post, 'writer') posts = collection<Post>()
}

@Record({ set: 'met-post' })
class Post {
  @Key() id!: number
  @ManyToOne(() => Person, 'posts') writer = ref<Person>()
  @ManyToMany(() => Person) editors = collection<Person>()
}

const CLASSES = [Person, Post]

for (const mode of MODES) {
  describe(`paths that meet at one entity (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const [one, two] = [1, 2].map((id) => session.create(Person, { id }))
        const post = session.create(Post, { id: 1 })
        post.writer.set(one)
        post.editors.add(one, two)
        session.create(Post, { id: 2 }).writer.set(two)
        return Promise.resolve()
      })
    })

    const ids = (posts: Iterable<Post>): number[] => [...posts].map(({ id }) => id)

    for (const known of [[], [1], [2], [1, 2]])
      it(`load its collection whole, with ${known.length === 0 ? 'nobody' : `person ${known.join(' and ')}`} in the session`, async () => {
        const session = db.session()
        await session.loadMany(Person, known)
        const post = await session.load(Post, 1, { with: ['writer.posts', 'editors.posts'] })
        const [one, two] = post.editors.items
        expect(post.writer.value).to.equal(one)
        expect(ids(one.posts)).to.deep.equal([1])
        expect(ids(two.posts)).to.deep.equal([2])
        expect(session.isDirty()).to.equal(false)
      })

    it('read it once', async () => {
      const session = db.session()
      await session.loadMany(Person, [1, 2])
      const seen = await server.commands.during(() =>
        session.load(Post, 1, { with: ['writer.posts', 'editors.posts'] }),
      )
      // The post, then the lists of both persons, then the other post.
      expect(seen).to.include({ commands: 3, rows: 4 })
    })

    it('keep what is taken out of it while it loads', async () => {
      const session = db.session()
      await session.load(Person, 2)
      const loading = session.load(Post, 1, { with: ['writer.posts', 'editors.posts'] })
      session.at(Person, 1).collection('posts').remove(1)
      expect(ids((await loading).writer.value?.posts ?? [])).to.deep.equal([])
      await session.flush()
      expect(await db.session().at(Person, 1).collection('posts').keys()).to.deep.equal([])
      expect((await db.session().load(Post, 1)).writer.key).to.equal(null)
    })
  })
}
