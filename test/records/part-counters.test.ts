import { expect } from 'chai'
import {
  Bin,
  Counter,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  PartialFailureError,
  Record,
  SkeinError,
  Version,
  collection,
  type Database,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Inner {
  @Counter() deep = 0
}

@Embeddable()
class Stats {
  @Counter() visits = 0
  @Bin() label?: string
  @Bin({ type: { list: 'int' } }) log: number[] = []
  @Embedded(() => Inner) inner?: Inner
}

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin() text?: string
  @Counter() likes = 0
  @Bin({ type: 'int' }) score: number = 0
  @Bin({ type: { list: 'string' } }) tags: string[] = []
}

@Record({ set: 'cnt_post' })
class Post {
  @Key() id!: number
  @Bin() title?: string
  @Embedded(() => Stats) stats = new Stats()
  @Embedded(() => Stats, { layout: 'bins' }) flat = new Stats()
  @Embedded(() => Stats, { as: 'map' }) byDay = new Map<string, Stats>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

@Record({ set: 'cnt_versioned' })
class Versioned {
  @Key() id!: number
  @Version() version?: number
  @Embedded(() => Stats) stats = new Stats()
  @OneToMany(() => Comment, { strategy: 'consolidate', sortKey: ['text'] }) comments = collection<Comment>()
}

const comment = (id: string): Comment => Object.assign(new Comment(), { id, text: id })
const stats = (visits = 0): Stats => Object.assign(new Stats(), { visits, inner: new Inner() })

async function savePost(db: Database): Promise<void> {
  const post = Object.assign(new Post(), { id: 1, stats: stats(), flat: stats(), byDay: new Map([['mon', stats()]]) })
  post.comments.add(comment('c1'), comment('c2'))
  await db.session().save(post)
}

for (const mode of MODES) {
  describe(`a counter inside a record (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Post, Versioned], (opened) => ({ db, server } = opened))
    beforeEach(() => savePost(db))
    afterEach(() => server.embedded?.faults.clear())

    const stored = (): Promise<Post> => db.session().load(Post, 1, { with: ['comments'] })
    const likes = (post: Post): number[] => post.comments.items.map((one) => one.likes)

    it('loses nothing of many writers that loaded it: parts, maps of parts, bins and children', async () => {
      const sessions = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const session = db.session()
          return { session, post: await session.load(Post, 1, { with: ['comments'] }) }
        }),
      )
      await Promise.all(
        sessions.map(async ({ session, post }, i) => {
          post.stats.visits += 1
          post.stats.inner!.deep += 2
          post.flat.visits += 3
          post.byDay.get('mon')!.visits += 4
          post.comments.items[0].likes += 5
          if (i === 7) post.stats.label = 'seven'
          await session.flush()
        }),
      )
      const post = await stored()
      expect([post.stats.visits, post.stats.inner!.deep, post.flat.visits]).to.deep.equal([20, 40, 60])
      expect([post.byDay.get('mon')!.visits, likes(post), post.stats.label]).to.deep.equal([80, [100, 0], 'seven'])
    })

    it('loses nothing of many handles that loaded nothing', async () => {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const session = db.session()
          const post = session.at(Post, 1)
          post.map('stats').increment('visits')
          post.map('byDay').at('mon').increment('visits')
          post.child('comments', 'c1').increment('likes')
          post.child('comments', 'c1').increment('score', 2)
          post.child('comments', 'c2').put('text', 'new')
          post.child('comments', 'c2').at('tags').append('t')
          await session.flush()
        }),
      )
      const post = await stored()
      const [c1, c2] = post.comments.items
      expect([post.stats.visits, post.byDay.get('mon')!.visits, c1.likes, c1.score]).to.deep.equal([20, 20, 20, 40])
      expect([c2.text, c2.tags.length]).to.deep.equal(['new', 20])
    })

    it('is changed by one command that reads nothing, and asked for by one', async () => {
      const session = db.session()
      const child = session.at(Post, 1).child('comments', 'c1')
      const { commands } = await server.commands.during(async () => {
        child.increment('likes', 3)
        await session.flush()
      })
      expect(commands).to.equal(1)
      child.increment('likes')
      const asked = await server.commands.during(async () => {
        expect(await child.get('likes')).to.equal(4)
        expect([...(await child.getMany(['text', 'likes']))]).to.deep.equal([
          ['likes', 4],
          ['text', 'c1'],
        ])
      })
      expect(asked.commands).to.equal(2)
      await session.flush()
      expect(likes(await stored())).to.deep.equal([4, 0])
    })

    it('shows a change through the handle in a loaded child, and sends each change once', async () => {
      const session = db.session()
      const post = await session.load(Post, 1, { with: ['comments'] })
      const [c1] = post.comments.items
      c1.score = 10
      const child = session.at(post).child('comments', 'c1')
      child.increment('score', 5)
      child.increment('likes')
      c1.likes += 1
      expect([c1.score, c1.likes, await child.get('likes')]).to.deep.equal([15, 2, 2])
      const other = db.session()
      other.at(Post, 1).child('comments', 'c1').increment('likes', 10)
      await other.flush()
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      await session.flush()
      const now = (await stored()).comments.items[0]
      expect([now.score, now.likes]).to.deep.equal([15, 12])
    })

    it('keeps an increment through a handle an increment beside unsent changes of the property', async () => {
      const session = db.session()
      const post = await session.load(Post, 1)
      post.stats.label = 'mine'
      session.at(post).map('stats').increment('visits')
      await db.session().at(Post, 1).map('stats').get('visits')
      const other = db.session()
      other.at(Post, 1).map('stats').increment('visits', 10)
      await other.flush()
      await session.flush()
      const now = (await stored()).stats
      expect([now.visits, now.label]).to.deep.equal([11, 'mine'])
    })

    it('changes a child that is added in the same flush, and none that is removed or gone', async () => {
      const session = db.session()
      const post = await session.load(Post, 1, { with: ['comments'] })
      post.comments.add(comment('c3'))
      session.at(post).child('comments', 'c3').increment('likes', 2)
      post.comments.remove(post.comments.items[0])
      expect(() => session.at(post).child('comments', 'c1').increment('likes')).to.throw(SkeinError, 'removed')
      await session.flush()
      expect(likes(await stored())).to.deep.equal([0, 2])
      const late = db.session()
      late.at(Post, 1).child('comments', 'c1').increment('likes')
      expect(await rejection(() => late.flush())).to.be.instanceOf(SkeinError)
      expect((await stored()).comments.items.length).to.equal(2)
    })

    it('is reported and never repeated when the answer is lost, and other fields are sent again', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      for (const after of [true, false]) {
        await db.truncate(Post)
        await savePost(db)
        const session = db.session()
        const post = await session.load(Post, 1, { with: ['comments'] })
        post.stats.visits += 1
        post.stats.label = 'set'
        post.comments.items[0].likes += 1
        post.comments.items[0].text = 'set'
        await faults.add({ kind: 'write', set: 'cnt_post', drop: true, after, times: 1 })
        expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
        await session.flush()
        const now = await stored()
        const counted = after ? 1 : 0
        expect([now.stats.visits, now.comments.items[0].likes]).to.deep.equal([counted, counted])
        expect([now.stats.label, now.comments.items[0].text]).to.deep.equal(['set', 'set'])
      }
    })

    it('never counts twice under a version when the answer is lost', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      for (const after of [true, false]) {
        await db.truncate(Versioned)
        const made = Object.assign(new Versioned(), { id: 1, stats: stats() })
        made.comments.add(comment('c1'))
        await db.session().save(made)
        const session = db.session()
        const loaded = await session.load(Versioned, 1, { with: ['comments'] })
        loaded.stats.visits += 1
        loaded.comments.items[0].likes += 1
        await faults.add({ kind: 'write', set: 'cnt_versioned', drop: true, after, times: 1 })
        // The version shows that nothing was written, but not whose increment it was.
        await session.flush().catch(() => session.refresh(loaded))
        await session.flush()
        const now = await db.session().load(Versioned, 1, { with: ['comments'] })
        expect([now.stats.visits, now.comments.items[0].likes]).to.deep.equal([1, 1])
      }
    })

    it('refuses fields that say where a child is, sorted children that are not loaded, and unknown ones', async () => {
      const post = db.session().at(Post, 1)
      expect(() => post.child('comments', 'c1').put('id', 'c9')).to.throw(SkeinError, 'key fields')
      expect(() => post.child('comments', 'c1').clear()).to.throw(SkeinError, 'key fields')
      expect(() => post.child('nothing' as never, 'c1')).to.throw(SkeinError, 'nothing')
      expect(() => post.child('comments', 7 as never)).to.throw(SkeinError)
      expect(() => db.session().at(Versioned, 1).child('comments', 'c1')).to.throw(SkeinError, 'sorted')
    })
  })
}
