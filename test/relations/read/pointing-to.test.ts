import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, SkeinError, collection, ref, type Database } from 'skein'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { MODES, need, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'puser' })
class User {
  @Key() id!: number
}

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin() text!: string
  @ManyToOne(() => User) author = ref<User>()
}

@Record({ set: 'ppost' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { author: { name: 'authors' } } }) comments =
    collection<Comment>()
}

@Record({ set: 'ptenant', tenant: true })
class Entry {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { author: { name: 'authors' } } }) comments =
    collection<Comment>()
}

const comment = (id: string, author: number): Comment => {
  const made = Object.assign(new Comment(), { id, text: id })
  made.author.set(author)
  return made
}

for (const mode of MODES) {
  describe(`finding records by what their parts point to (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [User, Post, Entry], (opened) => ({ db, server } = opened), { emptied: 'once' })
    before(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2]) session.create(User, { id })
        const [a, b, c] = [1, 2, 3].map((id) => session.create(Post, { id }))
        a.comments.add(comment('x', 1), comment('y', 1))
        b.comments.add(comment('x', 2))
        c.comments.add(comment('x', 1), comment('y', 2))
      })
    })

    const postsOf = async (author: User | number): Promise<number[]> => {
      const found: number[] = []
      for await (const { id } of db.session().pointingTo(Post, 'comments.author', author)) found.push(id)
      return found.sort()
    }

    it('finds each of them once, by key and by entity', async () => {
      expect(await postsOf(1)).to.deep.equal([1, 3])
      expect(await postsOf(await db.session().load(User, 2))).to.deep.equal([2, 3])
      expect(await postsOf(99)).to.deep.equal([])
    })

    it('takes one query', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts queries')
      const { log } = await commands.during(() => postsOf(1))
      expect([...new Set(log.map(({ kind }) => kind))]).to.deep.equal(['query'])
      expectRoundTrips(log.length, 1)
    })

    it('still lists an author of two comments when one is removed', async () => {
      const session = db.session()
      const post = await session.load(Post, 1)
      post.comments.remove('x')
      await session.flush()
      expect(await postsOf(1)).to.deep.equal([1, 3])
      post.comments.remove('y')
      await session.flush()
      expect(await postsOf(1)).to.deep.equal([3])
    })

    it('needs the tenant of a session, and finds what that tenant has', async () => {
      for (const tenant of ['a', 'b'])
        await db.withSession((session) => void session.create(Entry, { id: 1 }).comments.add(comment('c', 1)), {
          tenant,
        })
      const found = async (tenant?: string): Promise<number> => {
        let count = 0
        for await (const entry of db.session({ tenant }).pointingTo(Entry, 'comments.author', 1)) count += entry.id
        return count
      }
      expect(await found('a')).to.equal(1)
      expect(await rejection(() => found())).to.include({ code: 'SKEIN_2105' })
    })

    it('refuses a key of another type and an entity of another class, before anything is asked', async () => {
      const codeOf = async (target: unknown): Promise<unknown> =>
        ((await rejection(() => postsOf(target as number))) as SkeinError).code
      for (const key of ['1', 1.5, NaN, 2 ** 60, undefined, true, Buffer.from('1'), 'k'.repeat(70_000)])
        expect(await codeOf(key), String(key).slice(0, 9)).to.equal('SKEIN_2101')
      for (const entity of [Object.assign(new Post(), { id: 1 }), { id: 1 }, []])
        expect(await codeOf(entity)).to.equal('SKEIN_2408')
      expect(await codeOf(new User())).to.equal('SKEIN_2305')
    })

    it('says which inverse indexes there are', async () => {
      const ask = () => db.session().pointingTo(Post, 'comments.editor', 1).next()
      const error = await ask().then(
        () => undefined,
        (reason: unknown) => reason as SkeinError,
      )
      expect(error?.code).to.equal('SKEIN_2423')
      expect(error?.message).to.include('comments.author')
    })
  })
}
