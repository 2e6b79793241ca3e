import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  Record,
  SkeinError,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Reply {
  @Key() id!: string
  @Bin({ type: 'string' }) text = 'x'
  @Counter() likes = 0
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Embeddable()
class Stats {
  @Bin({ type: 'int' }) a = 3
  @Bin({ type: 'int' }) b = 1
  @Bin({ type: 'int' }) c?: number
}

@Record({ set: 'rec_advice' })
class Post {
  @Key() id!: number
  @Counter() views = 0
  @Embedded(() => Stats) stats = new Stats()
  @OneToMany(() => Reply, { strategy: 'consolidate', sortKey: ['text'] }) sorted = collection<Reply>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) comments = collection<Reply>()
}

const reply = (id: string, ...replies: Reply[]): Reply => {
  const made = Object.assign(new Reply(), { id })
  made.replies.add(...replies)
  return made
}

const messageOf = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    expect(error).to.be.instanceOf(SkeinError)
    return (error as SkeinError).message
  }
  throw new Error('It should have thrown, but it did not.')
}

for (const mode of MODES) {
  describe(`what handles say and show (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Post], (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      const post = Object.assign(new Post(), { id: 1 })
      post.comments.add(reply('c', reply('r'), reply('s')))
      post.sorted.add(reply('c'))
      await db.session().save(post)
    })

    it('of a child, its fields and not its own children', async () => {
      const session = db.session()
      const loaded = session.at(await session.load(Post, 1)).child('comments', 'c')
      for (const child of [db.session().at(Post, 1).child('comments', 'c'), loaded]) {
        expect(await child.keys()).to.deep.equal(['id', 'likes', 'text'])
        expect(await child.keys({ offset: -1, count: 1 })).to.deep.equal(['text'])
        expect(await child.size()).to.equal(3)
        expect(await child.byIndex({ offset: 1, count: 5 })).to.deep.equal([
          ['likes', 0],
          ['text', 'x'],
        ])
        expect(await child.top(1)).to.deep.equal([['text', 'x']])
        expect(await child.bottom(2)).to.deep.equal([
          ['likes', 0],
          ['id', 'c'],
        ])
        expect([await child.indexOf('text'), await child.rankOf('likes')]).to.deep.equal([2, 0])
        expect(await child.collection('replies').count()).to.equal(2)
      }
    })

    it('of a part, its stored fields, with what is not sent yet, in one command each', async () => {
      const session = db.session()
      const stats = session.at(Post, 1).map('stats')
      stats.put('c', 2)
      const { commands } = await server.commands.during(async () => {
        expect(await stats.keys()).to.deep.equal(['a', 'b', 'c'])
      })
      expect(commands).to.equal(1)
      expect(await stats.size()).to.equal(3)
      expect(await stats.byRank({ count: 3 })).to.deep.equal([
        ['b', 1],
        ['c', 2],
        ['a', 3],
      ])
      expect(await stats.rankOf('a')).to.equal(2)
      stats.remove('a')
      expect([await stats.rankOf('a'), await stats.indexOf('c')]).to.deep.equal([null, 1])
    })

    it('that a child is not there, where all children are loaded', async () => {
      const session = db.session()
      const post = await session.load(Post, 1)
      for (const name of ['sorted', 'comments'] as const) {
        const message = messageOf(() => session.at(post).child(name, 'z').increment('likes'))
        expect(message).to.contain(`Post 1: '${name}' is loaded and has no child "z".`)
      }
      post.comments.remove('c')
      expect(messageOf(() => session.at(post).child('comments', 'c').increment('likes'))).to.contain(
        'is removed in this session',
      )
    })

    it('what it means that a sorted child cannot be found', async () => {
      const session = db.session()
      expect(await session.at(Post, 1).collection('sorted').get('z')).to.equal(null)
      expect(messageOf(() => session.at(Post, 1).child('sorted', 'z'))).to.contain(
        'If that returns null, there is no such child.',
      )
      await session.at(Post, 1).collection('sorted').get('c')
      session.at(Post, 1).child('sorted', 'c').increment('likes')
      await session.flush()
    })

    it('that a handle stands for the record of a new entity', async () => {
      const session = db.session()
      session.at(Post, 2, { create: true }).counter('views').add(1)
      for (const call of [
        () => session.create(Post, { id: 2 }),
        () => session.persist(Object.assign(new Post(), { id: 2 })),
      ])
        expect(messageOf(call)).to.contain(
          'This session has a handle on Post 2. Change the record through the handle, or save the entity in another session.',
        )
      await session.flush()
      expect((await db.session().load(Post, 2)).views).to.equal(1)
    })
  })
}
