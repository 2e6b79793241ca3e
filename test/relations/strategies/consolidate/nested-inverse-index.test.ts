import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  VersionConflictError,
  collection,
  ref,
  type Database,
} from 'skein'
import { rejection } from '../../../session/rejection.js'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'nin-user' })
class User {
  @Key() id!: number
}

@Embeddable()
class Reply {
  @Key() id!: string
  @Bin() text?: string
  @ManyToOne(() => User) author = ref<User>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin() text?: string
  @ManyToOne(() => User) author = ref<User>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'nin-post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'byAuthor', onTargetDelete: 'delete' },
      'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
    },
  })
  comments = collection<Comment>()
}

function comment(id: string, author: number, ...replies: Reply[]): Comment {
  const made = Object.assign(new Comment(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

function reply(id: string, author: number | null, ...replies: Reply[]): Reply {
  const made = Object.assign(new Reply(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

const shape = (comments: Iterable<Comment | Reply>): string =>
  [...comments]
    .map(({ id, author, replies }) => `${id}:${author.key}` + ([...replies].length === 0 ? '' : `(${shape(replies)})`))
    .join(' ')

const inOrder = (index: unknown): unknown =>
  Object.fromEntries(
    Object.entries(index as { [key: string]: string[][] }).map(([key, entries]) => [key, entries.sort()]),
  )

for (const mode of MODES) {
  describe(`an inverse index of children of children (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [User, Post], (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const id of [1, 2, 3]) session.create(User, { id })
        session.create(Post, { id: 1 }).comments.add(comment('a', 1, reply('x', 2, reply('y', 3))), comment('b', 2))
        session.create(Post, { id: 2 }).comments.add(comment('a', 1, reply('x', 2)))
      })
    })

    const index = async (id: number): Promise<unknown> =>
      inOrder((await db.client.get({ ns: namespace, set: 'nin-post', key: id })).bins['byReplier'])
    const stored = async (id: number): Promise<string> => shape((await db.session().load(Post, id)).comments)
    const posts = async (author: number, path = 'comments.replies.author'): Promise<number[]> => {
      const found: number[] = []
      for await (const { id } of db.session().pointingTo(Post, path, author)) found.push(id)
      return found.sort()
    }
    const faults = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, message } of db.verify(Post, { settle: 0 })) found.push(`${kind}: ${message}`)
      return found
    }

    it('lists the way to each of them, at every level', async () => {
      expect(await index(1)).to.deep.equal({ 2: [['a', 'replies/x']], 3: [['a', 'replies/x', 'replies/y']] })
      expect([await posts(2), await posts(3), await posts(1)]).to.deep.equal([[1, 2], [1], []])
      expect(await posts(2, 'comments.author')).to.deep.equal([1])
      expect(await faults()).to.deep.equal([])
    })

    it('follows what is added, removed and pointed elsewhere, each in one command', async () => {
      const session = db.session()
      const one = await session.load(Post, 1)
      const [a, b] = one.comments.items
      a.replies.items[0].author.set(3)
      b.replies.add(reply('z', 2))
      await session.flush()
      expect(await index(1)).to.deep.equal({
        2: [['b', 'replies/z']],
        3: [
          ['a', 'replies/x'],
          ['a', 'replies/x', 'replies/y'],
        ],
      })
      a.replies.items[0].replies.remove('y')
      a.replies.items[0].author.set(null)
      await session.flush()
      expect(await index(1)).to.deep.equal({ 2: [['b', 'replies/z']] })
      one.comments.remove(b)
      await session.flush()
      expect([await index(1), await stored(1)]).to.deep.equal([{}, 'a:1(x:null)'])
      expect(await faults()).to.deep.equal([])
    })

    it('follows a child that moves within its record and into another one', async () => {
      const session = db.session()
      const [one, two] = [await session.load(Post, 1), await session.load(Post, 2)]
      const [a, b] = one.comments.items
      const x = a.replies.items[0]
      const y = x.replies.items[0]
      a.replies.remove(x)
      b.replies.add(x)
      x.replies.remove(y)
      two.comments.items[0].replies.add(y)
      await session.flush()
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1 b:2(x:2)', 'a:1(x:2 y:3)'])
      expect([await index(1), await index(2)]).to.deep.equal([
        { 2: [['b', 'replies/x']] },
        { 2: [['a', 'replies/x']], 3: [['a', 'replies/y']] },
      ])
      expect(await faults()).to.deep.equal([])
      one.comments.remove(b)
      two.comments.add(b)
      await session.flush()
      expect([await index(1), await index(2)]).to.deep.equal([
        {},
        {
          2: [
            ['a', 'replies/x'],
            ['b', 'replies/x'],
          ],
          3: [['a', 'replies/y']],
        },
      ])
      expect(await faults()).to.deep.equal([])
    })

    it('removes them where what they point to is deleted, with what is below them', async () => {
      expect(await db.session().delete(User, 2)).to.equal(true)
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1', 'a:1'])
      expect([await index(1), await index(2)]).to.deep.equal([{}, {}])
      expect(await faults()).to.deep.equal([])
    })

    it('removes them from records that the session knew before others wrote to them', async () => {
      const session = db.session()
      const one = await session.load(Post, 1)
      await db.withSession(async (other) => {
        const { comments } = await other.load(Post, 1)
        comments.items[0].replies.items[0].replies.add(reply('n', 3, reply('m', 1)))
        comments.add(comment('new', 1, reply('p', 2, reply('q', 3))))
      })
      await session.delete(User, 3)
      expect(await stored(1)).to.equal('a:1(x:2) b:2 new:1(p:2)')
      expect(shape(one.comments)).to.contain('a:1(x:2) b:2')
      expect(await faults()).to.deep.equal([])
    })

    it('takes a new reply along that points to what the same flush deletes', async () => {
      const session = db.session()
      const one = await session.load(Post, 1)
      one.comments.items[1].replies.add(reply('z', 3), reply('w', 1))
      one.comments.add(comment('c', 1, reply('v', 3)))
      session.remove(await session.load(User, 3))
      const text = String(await session.explain())
      expect(text).to.not.contain('replies/z')
      expect(one.comments.items[1].replies.items.map(({ id }) => id)).to.deep.equal(['w', 'z'])
      await session.flush()
      expect(await stored(1)).to.equal('a:1(x:2) b:2(w:1) c:1')
      expect(one.comments.items[1].replies.items.map(({ id }) => id)).to.deep.equal(['w'])
      expect(await faults()).to.deep.equal([])
    })

    it('keeps a reply that another session adds below a child which is removed here', async () => {
      const [first, second] = [db.session(), db.session()]
      const [mine, theirs] = [await first.load(Post, 2), await second.load(Post, 2)]
      theirs.comments.items[0].replies.add(reply('late', 3))
      await second.flush()
      mine.comments.remove('a')
      expect(await rejection(() => first.flush())).to.be.instanceOf(VersionConflictError)
      expect(await stored(2)).to.equal('a:1(late:3 x:2)')
      expect(await faults()).to.deep.equal([])
    })

    it('refuses to write over a reply of another session that points elsewhere, or has replies', async () => {
      for (const theirs of [reply('n', 2), reply('n', 3, reply('m', 2))]) {
        const session = db.session()
        const { comments } = await session.load(Post, 2)
        await db.withSession(async (other) => void (await other.load(Post, 2)).comments.items[0].replies.add(theirs))
        comments.items[0].replies.add(reply('n', 3))
        expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
        expect(await faults()).to.deep.equal([])
        await db.withSession(async (other) => (await other.load(Post, 2)).comments.items[0].replies.remove('n'))
      }
    })

    it('lets two sessions point different replies elsewhere, and a text change beside them', async () => {
      const [first, second] = [db.session(), db.session()]
      const [mine, theirs] = [await first.load(Post, 1), await second.load(Post, 1)]
      mine.comments.items[0].replies.items[0].author.set(1)
      theirs.comments.items[0].replies.items[0].replies.items[0].author.set(1)
      theirs.comments.items[0].replies.items[0].text = 'changed'
      await first.flush()
      await second.flush()
      expect(await stored(1)).to.equal('a:1(x:1(y:1)) b:2')
      expect(await faults()).to.deep.equal([])
    })

    it('makes the second of two sessions that point one reply elsewhere look again', async () => {
      const [first, second] = [db.session(), db.session()]
      const [mine, theirs] = [await first.load(Post, 2), await second.load(Post, 2)]
      mine.comments.items[0].replies.items[0].author.set(1)
      theirs.comments.items[0].replies.items[0].author.set(3)
      await first.flush()
      expect(await rejection(() => second.flush())).to.be.instanceOf(VersionConflictError)
      expect(await faults()).to.deep.equal([])
    })

    it('forgets what was below a child that is removed by its id, and one that is replaced or upserted unseen', async () => {
      const session = db.session()
      session.at(Post, 1).collection('comments').remove('a')
      await session.flush()
      expect(await index(1)).to.deep.equal({})
      const other = db.session()
      other
        .at(Post, 2)
        .collection('comments')
        .add(comment('a', 3, reply('r', 1)))
      await other.flush()
      expect([await index(2), await faults()]).to.deep.equal([{ 1: [['a', 'replies/r']] }, []])
      const post = Object.assign(new Post(), { id: 2 })
      post.comments.add(comment('a', 1, reply('s', 2)))
      await db.session().upsert(post)
      expect([await index(2), await faults()]).to.deep.equal([{ 2: [['a', 'replies/s']] }, []])
    })

    it('follows what is pointed elsewhere in a loaded child before a handle changes the same child', async () => {
      const session = db.session()
      const [a] = (await session.load(Post, 1)).comments.items
      a.author.set(3)
      a.replies.items[0].author.set(1)
      a.replies.items[0].text = 'in memory'
      a.replies.items[0].replies.remove('y')
      session.at(Post, 1).child('comments', 'a').child('replies', 'x').put('text', 'by handle')
      expect(a.replies.items[0].text).to.equal('by handle')
      await session.flush()
      expect(await stored(1)).to.equal('a:3(x:1) b:2')
      expect((await db.session().load(Post, 1)).comments.items[0].replies.items[0].text).to.equal('by handle')
      expect(await faults()).to.deep.equal([])
    })

    it('follows a new reply that a handle changes before it is stored', async () => {
      const session = db.session()
      const [, b] = (await session.load(Post, 1)).comments.items
      b.replies.add(reply('n', 3))
      session.at(Post, 1).child('comments', 'b').child('replies', 'n').put('text', 'by handle')
      await session.flush()
      expect((await db.session().load(Post, 1)).comments.items[1].replies.items[0].text).to.equal('by handle')
      expect(await faults()).to.deep.equal([])
    })

    if (mode === 'sc')
      it('is kept in transactions', async () => {
        await db.transaction(async (session) => {
          const [one, two] = await session.loadMany(Post, [1, 2])
          const [a, b] = one.comments.items
          const x = a.replies.items[0]
          a.replies.remove(x)
          b.replies.add(x)
          x.author.set(1)
          two.comments.items[0].replies.remove('x')
          x.replies.items[0].replies.add(reply('z', 2))
        })
        expect([await stored(1), await stored(2)]).to.deep.equal(['a:1 b:2(x:1(y:3(z:2)))', 'a:1'])
        expect(await faults()).to.deep.equal([])
        await db.transaction(async (session) => {
          session.remove(await session.load(User, 3))
          await session.flush({ outsideTransaction: true })
        })
        expect(await stored(1)).to.equal('a:1 b:2(x:1)')
        expect(await faults()).to.deep.equal([])
      })

    it('is verified and repaired', async () => {
      await db.client.operate({ ns: namespace, set: 'nin-post', key: 1 }, [
        Aerospike.maps.put('byReplier', 7 as never, [
          ['a', 'replies/x'],
          ['gone', 'replies/x'],
        ]),
        Aerospike.maps.removeByKey('byReplier', 3 as never),
      ])
      expect(await faults()).to.have.length(3)
      const found: string[] = []
      for await (const { message, state } of db.verify(Post, { settle: 0, repair: true }))
        found.push(`${state} ${message}`)
      expect(found.join('\n')).to.match(/does not list "a" replies\/x replies\/y of comments under 3 in byReplier/)
      expect(await index(1)).to.deep.equal({ 2: [['a', 'replies/x']], 3: [['a', 'replies/x', 'replies/y']] })
      expect(await faults()).to.deep.equal([])
    })
  })
}
