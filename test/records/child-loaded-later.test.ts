import { expect } from 'chai'
import {
  Bin,
  Counter,
  Embeddable,
  Key,
  OneToMany,
  Record,
  Sharded,
  collection,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin() text?: string
  @Counter() likes = 0
  @Bin({ type: { map: 'int' } }) votes = new Map<string, number>()
}

@Record({ set: 'cll_post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

/** Keeps its comments in companion records. */
@Record({ set: 'cll_apart' })
class ApartPost {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 2 })
  @OneToMany(() => Comment, { strategy: 'consolidate' })
  comments = collection<Comment>()
}

type AnyPost = typeof Post

const LOADS: { readonly [title: string]: (session: Session, post: AnyPost) => Promise<Comment> } = {
  'with its parent': async (session, Post) =>
    (await session.load(Post, 1, { with: ['comments'] })).comments.items.find(({ id }) => id === 'a')!,
  'with its collection': async (session, Post) =>
    (await (await session.load(Post, 1)).comments.load()).find(({ id }) => id === 'a')!,
  alone: async (session, Post) => (await session.at(Post, 1).collection('comments').get('a'))!,
  'in a page': async (session, Post) => (await session.at(Post, 1).collection('comments').page({ count: 1 }))[0],
}

const CASES = MODES.flatMap((mode) => [
  { mode, Class: Post, where: 'in its owner', loads: Object.entries(LOADS) },
  {
    mode,
    Class: ApartPost,
    where: 'in a companion',
    loads: [['alone', LOADS.alone] as const, ['in a page', LOADS['in a page']] as const],
  },
])

for (const { mode, Class, where, loads } of CASES) {
  describe(`a child ${where} that is loaded after a handle has changed it (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Class], (opened) => ({ db } = opened))

    beforeEach(async () => {
      const post = Object.assign(new Class(), { id: 1 })
      post.comments.add(
        Object.assign(new Comment(), { id: 'a', text: 'old', likes: 1 }),
        Object.assign(new Comment(), { id: 'b', text: 'other' }),
      )
      await db.session().save(post)
    })

    const stored = async (): Promise<Comment> =>
      (await db.session().load(Class, 1, { with: ['comments'] })).comments.items.find(({ id }) => id === 'a')!

    for (const [title, load] of loads) {
      it(`shows the change when it is loaded ${title}, and nothing is sent twice`, async () => {
        const session = db.session()
        const child = session.at(Class, 1).child('comments', 'a')
        child.increment('likes', 5)
        child.put('text', 'new')
        child.at('votes').put('x', 2)
        const comment = await load(session, Class)
        expect([comment.likes, comment.text, comment.votes.get('x')]).to.deep.equal([6, 'new', 2])
        comment.likes += 1
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect([comment.likes, comment.text]).to.deep.equal([7, 'new'])
        const now = await stored()
        expect([now.likes, now.text, now.votes.get('x')]).to.deep.equal([7, 'new', 2])
      })
    }

    it('shows what is stored once the change is sent', async () => {
      const session = db.session()
      session.at(Class, 1).child('comments', 'a').increment('likes', 5)
      await session.flush()
      await db.withSession((other) => other.at(Class, 1).child('comments', 'a').increment('likes', 10))
      expect((await LOADS.alone(session, Class)).likes).to.equal(16)
    })

    it('shows what is stored after a refresh, which drops the change', async () => {
      const session = db.session()
      const post = await session.load(Class, 1, { with: ['comments'] })
      session.at(Class, 1).child('comments', 'a').increment('likes', 5)
      expect(post.comments.items.find(({ id }) => id === 'a')!.likes).to.equal(6)
      await session.refresh(post)
      await post.comments.load()
      expect(post.comments.items.find(({ id }) => id === 'a')!.likes).to.equal(1)
      await session.flush()
      expect((await stored()).likes).to.equal(1)
    })
  })
}
