import { expect } from 'chai'
import { Embeddable, Embedded, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'assign-member' })
class Member {
  @Key() id!: number
}

@Embeddable()
class Mark {
  @ManyToOne(() => Member) by = ref<Member>()
}

@Embeddable()
class Reply {
  @Key() id!: string
}

@Embeddable()
class Comment {
  @Key() id!: string
  @ManyToOne(() => Member) by = ref<Member>()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'assign-post' })
class Post {
  @Key() id!: number
  @Embedded(() => Mark) mark = new Mark()
  @Embedded(() => Mark, { as: 'array' }) marks = [new Mark()]
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { by: {} } }) comments = collection<Comment>()
}

const reply = (id: string): Reply => Object.assign(new Reply(), { id })

for (const mode of MODES) {
  describe(`relations of parts that are assigned (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Member, Post], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const post = session.create(Post, { id: 1 })
        const [one] = [1, 2].map((id) => session.create(Member, { id }))
        const comment = Object.assign(new Comment(), { id: 'a' })
        comment.by.set(one)
        comment.replies.add(reply('r'))
        post.comments.add(comment)
        for (const mark of [post.mark, ...post.marks]) mark.by.set(one)
      }),
    )

    const assign = (part: object, values: object): void => void Object.assign(part, values)
    const stored = async (): Promise<unknown[]> => {
      const { mark, marks, comments } = await db.session().load(Post, 1)
      const [comment] = comments.items
      return [mark.by.key, marks[0].by.key, comment.by.key, comment.replies.items.map(({ id }) => id)]
    }

    const WRONG: Readonly<globalThis.Record<string, (post: Post, member: Member) => void>> = {
      'an entity to a reference of an embedded part': ({ mark }, by) => assign(mark, { by }),
      'an entity to a reference of a part in a list': ({ marks }, by) => assign(marks[0], { by }),
      'an entity to a reference of a child': ({ comments }, by) => assign(comments.items[0], { by }),
      'a list to the children of a child': ({ comments }) => assign(comments.items[0], { replies: [reply('n')] }),
      'an empty list to the children of a child': ({ comments }) => assign(comments.items[0], { replies: [] }),
      'nothing to the children of a child': ({ comments }) => assign(comments.items[0], { replies: undefined }),
    }
    for (const [title, change] of Object.entries(WRONG)) {
      it(`are refused with the call to use instead: ${title}`, async () => {
        const session = db.session()
        const [post, member] = [await session.load(Post, 1), await session.load(Member, 2)]
        change(post, member)
        expect(session.isDirty()).to.equal(true)
        for (const call of [() => session.flush(), () => session.save(post), () => session.explain()])
          expect(await rejection(call)).to.have.property('code', 'SKEIN_2201')
        expect(((await rejection(() => session.flush())) as Error).message).to.match(
          /^Post\.(mark|marks\[0\]|comments\["a"\])\.(by|replies): .* was assigned, which replaced the (Ref|Collection)\. Call its (set|add)\(/,
        )
        expect(await stored()).to.deep.equal([1, 1, 1, ['r']])
      })
    }

    it('are refused in a new part', async () => {
      const session = db.session()
      const post = await session.load(Post, 1)
      post.comments.add(Object.assign(new Comment(), { id: 'b', by: (await session.load(Member, 2)) as never }))
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2201')
    })

    it('take keys, and lists of children, where a part is given as plain data', async () => {
      const session = db.session()
      const post = await session.load(Post, 1)
      post.comments.add({ id: 'b', by: 2, replies: [{ id: 'x' }] } as never)
      post.mark = { by: 2 } as never
      await session.flush()
      const { mark, comments } = await db.session().load(Post, 1)
      const added = comments.items.find(({ id }) => id === 'b')!
      expect([mark.by.key, added.by.key, added.replies.items.map(({ id }) => id)]).to.deep.equal([2, 2, ['x']])
    })
  })
}
