import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  EntityGoneError,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Database,
} from 'skein'
import { rejection } from '../../../session/rejection.js'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'nih-user' })
class User {
  @Key() id!: number
}

@Embeddable()
class Reply {
  @Key() id!: string
  @Bin({ type: 'int' }) likes = 0
  @ManyToOne(() => User) author = ref<User>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin({ type: 'int' }) likes = 0
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

const indexed = (name: string) => ({
  strategy: 'consolidate' as const,
  inverseIndex: { 'replies.author': { name, onTargetDelete: 'delete' as const } },
})

@Record({ set: 'nih-post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, indexed('byReplier')) comments = collection<Comment>()
}

@Record({ set: 'nih-long' })
class Long {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 }) @OneToMany(() => Comment, indexed('byLong')) comments = collection<Comment>()
}

@Record({ set: 'nih-grown' })
class Grown {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 } })
  @OneToMany(() => Comment, indexed('byGrown'))
  comments = collection<Comment>()
}

const reply = (id: string, author: number, ...replies: Reply[]): Reply => {
  const made = Object.assign(new Reply(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}
const comment = (id: string, ...replies: Reply[]): Comment => {
  const made = Object.assign(new Comment(), { id })
  made.replies.add(...replies)
  return made
}
const shape = (all: Iterable<Comment | Reply>): string =>
  [...all].map(({ id, replies }) => id + ([...replies].length === 0 ? '' : `(${shape(replies)})`)).join(' ')

for (const mode of MODES)
  for (const Class of [Post, Long, Grown])
    describe(`replies that handles change under an inverse index of ${Class.name} (${mode})`, () => {
      let db: Database
      useDatabase(mode, [User, Post, Long, Grown], (opened) => ({ db } = opened))
      beforeEach(() =>
        db.withSession((session) => {
          for (const id of [1, 2, 3, 4]) session.create(User, { id })
          session.create(Class, { id: 1 }).comments.add(comment('a', reply('x', 2, reply('y', 3))), comment('b'))
        }),
      )

      const stored = async (): Promise<string> =>
        shape((await db.session().load(Class, 1, { with: ['comments'] })).comments)
      /** Authors whom the index says the replies point to. */
      const authors = async (): Promise<number[]> => {
        const found: number[] = []
        for (const id of [1, 2, 3, 4])
          for await (const each of db.session().pointingTo(Class, 'comments.replies.author', id))
            if (each.id === 1) found.push(id)
        return found
      }
      const faults = async (): Promise<string[]> => {
        const found: string[] = []
        for await (const { kind, message } of db.verify(Class, { settle: 0 })) found.push(`${kind}: ${message}`)
        return found
      }

      it('are added and removed at every level, with what they point to', async () => {
        const session = db.session()
        const a = session.at(Class, 1).child('comments', 'a')
        a.collection('replies').add(reply('n', 4, reply('m', 1)))
        a.child('replies', 'x').collection('replies').remove('y')
        session.at(Class, 1).child('comments', 'b').collection('replies').add(reply('z', 2))
        expect(session.isDirty()).to.equal(true)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect([await stored(), await authors()]).to.deep.equal(['a(n(m) x) b(z)', [1, 2, 4]])
        expect(await faults()).to.deep.equal([])
        const other = db.session()
        other.at(Class, 1).child('comments', 'a').collection('replies').remove('n')
        await other.flush()
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(x) b(z)', [2], []])
      })

      it('take the place of others with their ids', async () => {
        await db.withSession((session) => {
          session.at(Class, 1).child('comments', 'a').collection('replies').add(reply('x', 4))
        })
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(x) b', [4], []])
      })

      it('go with the user that they point to', async () => {
        await db.withSession((session) => {
          session.at(Class, 1).child('comments', 'b').collection('replies').add(reply('z', 4))
        })
        await db.session().delete(User, 4)
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(x(y)) b', [2, 3], []])
      })

      it('are shown before they are sent, by the handle and by what is loaded', async () => {
        const session = db.session()
        const replies = session.at(Class, 1).child('comments', 'a').collection('replies')
        replies.add(reply('n', 4))
        replies.remove('x')
        expect([await replies.contains('n'), await replies.contains('x'), await replies.count()]).to.deep.equal([
          true,
          false,
          1,
        ])
        const other = db.session()
        other.at(Class, 1).child('comments', 'a').collection('replies').add(reply('n', 4))
        const { comments } = await other.load(Class, 1, { with: ['comments'] })
        expect(shape(comments)).to.equal('a(n x(y)) b')
        expect(other.isDirty()).to.equal(true)
        await other.flush()
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(n x(y)) b', [2, 3, 4], []])
      })

      it('are changed by handles on them before they are stored, beside changes of others', async () => {
        const session = db.session()
        const a = session.at(Class, 1).child('comments', 'a')
        a.collection('replies').add(reply('n', 4))
        a.child('replies', 'n').increment('likes', 2)
        a.child('replies', 'n').collection('replies').add(reply('m', 1))
        a.child('replies', 'x').increment('likes', 3)
        a.increment('likes', 4)
        await session.flush()
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(n(m) x(y)) b', [1, 2, 3, 4], []])
        const [{ likes, replies }] = (await db.session().load(Class, 1, { with: ['comments'] })).comments
        expect([likes, ...[...replies].map((each) => each.likes)]).to.deep.equal([4, 2, 3])
      })

      it('are never added to a child that is gone, and are dropped by a refresh', async () => {
        for (const [id, inside] of [
          ['gone', undefined],
          ['a', 'gone'],
        ] as const) {
          const session = db.session()
          const child = session.at(Class, 1).child('comments', id)
          const holder = inside === undefined ? child : child.child('replies', inside)
          holder.collection('replies').add(reply('n', 4))
          expect(await rejection(() => session.flush())).to.be.instanceOf(EntityGoneError)
          await session.refresh(await session.load(Class, 1))
          await session.flush()
        }
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(x(y)) b', [2, 3], []])
      })

      it('are explained without being sent', async () => {
        const session = db.session()
        session.at(Class, 1).child('comments', 'b').collection('replies').add(reply('z', 4))
        expect(String(await session.explain())).to.include('replies/z')
        expect([await stored(), await authors()]).to.deep.equal(['a(x(y)) b', [2, 3]])
        await session.flush()
        expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(x(y)) b(z)', [2, 3, 4], []])
      })

      if (mode === 'sc')
        it('are changed in transactions', async () => {
          await db.transaction((session) => {
            const a = session.at(Class, 1).child('comments', 'a')
            a.collection('replies').remove('x')
            a.collection('replies').add(reply('n', 4))
          })
          expect([await stored(), await authors(), await faults()]).to.deep.equal(['a(n) b', [4], []])
        })
    })
