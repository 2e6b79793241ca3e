import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Key,
  OneToMany,
  Record,
  type Database,
  type Session,
  type SkeinError,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Reply {
  @Key() id!: string
  @Counter() likes = 0
}

@Embeddable()
class Comment {
  @Key() id!: string
  @Counter() likes = 0
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'missing_child' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate', eager: false }) comments = collection<Comment>()
}

for (const mode of MODES) {
  describe(`a child that is not there (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Post], (opened) => ({ db } = opened))
    beforeEach(async () => {
      const post = Object.assign(new Post(), { id: 1 })
      const comment = Object.assign(new Comment(), { id: 'y' })
      comment.replies.add(Object.assign(new Reply(), { id: 'r' }))
      post.comments.add(comment)
      await db.session().save(post)
    })

    const answers = async (session: Session, comment: string): Promise<unknown[]> => {
      const child = session.at(Post, 1).child('comments', comment)
      const reply = child.child('replies', 'none')
      return [
        comment === 'none' && [await child.get('likes'), await child.at('tags').size(), await child.has('likes')],
        [await reply.get('likes'), await reply.has('likes'), [...(await reply.getMany(['likes']))]],
        await child.collection('replies').contains('none'),
      ]
    }

    it('has the same answers, loaded or not', async () => {
      for (const comment of ['none', 'y']) {
        const expected = await answers(db.session(), comment)
        const loaded = db.session()
        await loaded.load(Post, 1, { with: ['comments'] })
        expect(await answers(loaded, comment), comment).to.deep.equal(expected)
        const one = db.session()
        await one.at(Post, 1).collection('comments').get(comment)
        expect(await answers(one, comment), comment).to.deep.equal(expected)
      }
    })

    it('has the same answers where this session removes it', async () => {
      const session = db.session()
      const post = await session.load(Post, 1, { with: ['comments'] })
      post.comments.remove('y')
      const child = session.at(post).child('comments', 'y')
      expect([await child.get('likes'), await child.child('replies', 'r').get('likes')]).to.deep.equal([
        undefined,
        undefined,
      ])
    })

    it('cannot be changed, and the error does not say that this session has removed it', async () => {
      const session = db.session()
      const post = await session.load(Post, 1, { with: ['comments'] })
      const reply = session.at(post).child('comments', 'y').child('replies', 'none')
      const error = (await rejection(async () => reply.increment('likes'))) as SkeinError
      expect(error.code).to.equal('SKEIN_2331')
      expect(error.message).to.include(`'replies' is loaded and has no child "none"`)
    })
  })
}
