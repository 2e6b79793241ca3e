import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'nidx-user' })
class User {
  @Key() id!: number
  @Bin() name?: string
}

@Embeddable()
class Comment {
  @Key() id!: string
  @ManyToOne(() => User) author = ref<User>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
}

@Record({ set: 'nidx-post' })
class Post {
  @Key() id!: number
  @OneToMany(() => Comment, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'byAuthor', onTargetDelete: 'delete' } },
  })
  comments = collection<Comment>()
}

function comment(id: string, author: number, ...replies: Comment[]): Comment {
  const made = Object.assign(new Comment(), { id })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

const shape = (comments: Iterable<Comment>): string =>
  [...comments]
    .map(({ id, author, replies }) => `${id}:${author.key}` + ([...replies].length === 0 ? '' : `(${shape(replies)})`))
    .join(' ')

for (const mode of MODES) {
  describe(`an inverse index beside children of children (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [User, Post], (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2, 3]) session.create(User, { id })
        session.create(Post, { id: 1 }).comments.add(comment('a', 1, comment('x', 2, comment('y', 1))), comment('b', 2))
        session.create(Post, { id: 2 }).comments.add(comment('a', 1, comment('x', 2)))
      })
    })

    const index = async (id: number): Promise<unknown> =>
      (await db.client.get({ ns: namespace, set: 'nidx-post', key: id })).bins['byAuthor']
    const stored = async (id: number): Promise<string> => shape((await db.session().load(Post, id)).comments)
    const posts = async (author: number): Promise<number[]> => {
      const found: number[] = []
      for await (const { id } of db.session().pointingTo(Post, 'comments.author', author)) found.push(id)
      return found.sort()
    }
    const faults = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, message } of db.verify(Post, { settle: 0 })) found.push(`${kind}: ${message}`)
      return found
    }

    it("covers the references of the record's own children alone", async () => {
      expect(await index(1)).to.deep.equal({ 1: ['a'], 2: ['b'] })
      expect([await posts(1), await posts(2)]).to.deep.equal([[1, 2], [1]])
      expect(await faults()).to.deep.equal([])
    })

    it('follows a child that becomes a child of another, and one that becomes a child of its record', async () => {
      const session = db.session()
      const [one, two] = [await session.load(Post, 1), await session.load(Post, 2)]
      const [a, b] = one.comments.items
      const x = a.replies.items[0]
      a.replies.remove(x)
      one.comments.add(x)
      one.comments.remove(b)
      a.replies.add(b)
      const moved = two.comments.items[0].replies.items[0]
      two.comments.items[0].replies.remove(moved)
      moved.author.set(3)
      two.comments.add(moved)
      await session.flush()
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1(b:2) x:2(y:1)', 'a:1 x:3'])
      expect([await index(1), await index(2)]).to.deep.equal([
        { 1: ['a'], 2: ['x'] },
        { 1: ['a'], 3: ['x'] },
      ])
      expect(await faults()).to.deep.equal([])
    })

    it('follows a child into another record, where it lies deeper or less deep', async () => {
      const session = db.session()
      const [one, two] = [await session.load(Post, 1), await session.load(Post, 2)]
      const [a, b] = one.comments.items
      const x = a.replies.items[0]
      a.replies.remove(x)
      two.comments.add(x)
      one.comments.remove(b)
      two.comments.items[0].replies.add(b)
      await session.flush()
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1', 'a:1(b:2 x:2) x:2(y:1)'])
      expect([await index(1), await index(2)]).to.deep.equal([{ 1: ['a'] }, { 1: ['a'], 2: ['x'] }])
      expect(await faults()).to.deep.equal([])
    })

    it('leaves replies where they are when what they point to is deleted, and verify clears their references', async () => {
      expect(await db.session().delete(User, 2)).to.equal(true)
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1(x:2(y:1))', 'a:1(x:2)'])
      expect(await index(1)).to.deep.equal({ 1: ['a'] })
      const { comments } = await db.session().load(Post, 1, { with: ['comments.replies.author'] })
      expect(comments.items[0].replies.items[0].author.value).to.equal(null)
      const found: string[] = []
      for await (const { kind } of db.verify(Post, { repair: true, settle: 0 })) found.push(kind)
      expect(found).to.deep.equal(['danglingKey', 'danglingKey'])
      expect([await stored(1), await stored(2)]).to.deep.equal(['a:1(x:null(y:1))', 'a:1(x:null)'])
      expect(await faults()).to.deep.equal([])
    })

    it('takes replies along with the child that goes because of what it points to', async () => {
      expect(await db.session().delete(User, 1)).to.equal(true)
      expect([await stored(1), await stored(2)]).to.deep.equal(['b:2', ''])
      expect([await index(1), await index(2)]).to.deep.equal([{ 2: ['b'] }, {}])
    })

    it('keeps a reply that is changed in the session that deletes what it points to', async () => {
      const session = db.session()
      const one = await session.load(Post, 1)
      one.comments.items[1].replies.add(comment('z', 3))
      one.comments.add(comment('c', 3))
      session.remove(await session.load(User, 3))
      await session.flush()
      expect(await stored(1)).to.equal('a:1(x:2(y:1)) b:2(z:3)')
      expect(await index(1)).to.deep.equal({ 1: ['a'], 2: ['b'] })
      expect(await faults()).to.have.length(1)
    })
  })
}
