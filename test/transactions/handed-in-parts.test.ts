import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref } from 'skein'
import type { Database, Session } from 'skein'
import { Bed, rejection } from './bed.js'

@Record({ set: 'handed-member' })
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
  @ManyToOne(() => Member) by = ref<Member>()
}

@Embeddable()
class Comment {
  @Key() id!: string
  @ManyToOne(() => Member) by = ref<Member>()
  @Embedded(() => Mark) mark = new Mark()
  @OneToMany(() => Reply, { strategy: 'consolidate' }) replies = collection<Reply>()
}

@Record({ set: 'handed-post' })
class Post {
  @Key() id!: number
  @Bin() title?: string
  @Embedded(() => Mark) mark = new Mark()
  @Embedded(() => Mark, { as: 'array' }) marks = [new Mark()]
  @Embedded(() => Mark, { as: 'map' }) named = new Map([['a', new Mark()]])
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
  @ManyToMany(() => Member, { attributes: () => Mark }) readers = collection<Member, Mark>()
}

/** A record whose parts hold the only references. */
@Record({ set: 'handed-note' })
class Note {
  @Key() id!: number
  @Embedded(() => Mark) mark = new Mark()
}

type Parts = { readonly by: { readonly key: unknown; set(to: Member | number): void } }

describe('references inside parts of an entity that is handed in to a transaction which is undone', () => {
  let bed: Bed
  let db: Database
  before(async function () {
    bed = await Bed.start(this)
    db = await bed.open({ entities: [Member, Post, Note] })
    await db.withSession((session) => {
      for (const id of [1, 2]) session.create(Member, { id })
    })
  })
  after(() => bed?.stop())

  const point = <T extends Parts>(part: T, to: Member | number): T => {
    part.by.set(to)
    return part
  }
  /** A post of which every part points to the first member. */
  const post = (): Post => {
    const made = Object.assign(new Post(), { id: bed.fresh() })
    const comment = point(Object.assign(new Comment(), { id: 'a' }), 1)
    comment.replies.add(point(Object.assign(new Reply(), { id: 'r' }), 1))
    made.comments.add(comment)
    made.readers.link(1, point(new Mark(), 1))
    for (const part of [made.mark, made.marks[0], made.named.get('a')!, comment.mark]) point(part, 1)
    return made
  }
  const partsOf = async ({ mark, marks, named, comments, readers }: Post): Promise<Parts[]> => {
    const [comment] = comments.items
    return [
      mark,
      ...marks,
      ...named.values(),
      comment,
      comment.mark,
      ...comment.replies.items,
      (await readers.attributesOf(1))!,
    ]
  }
  const keysOf = async (shown: Post): Promise<unknown[]> => (await partsOf(shown)).map(({ by }) => by.key)
  const ones = Array<number>(7).fill(1)

  const TARGETS: Readonly<globalThis.Record<string, (session: Session) => Member | number | Promise<Member>>> = {
    'a key': () => 2,
    'an entity that was loaded': (session) => session.load(Member, 2),
    'a new entity': (session) => session.create(Member, { id: bed.fresh() }),
  }
  for (const [title, targetIn] of Object.entries(TARGETS)) {
    for (const isFlushed of [true, false]) {
      it(`point to what they did before, and not to ${title}, ${isFlushed ? '' : 'not '}flushed`, async () => {
        const made = post()
        let target: Member | number | undefined
        const error = await rejection(
          db.transaction(async (session) => {
            session.persist(made)
            target = await targetIn(session)
            for (const part of await partsOf(made)) point(part, target)
            if (isFlushed) await session.flush()
            throw new Error('thought better of it')
          }),
        )
        expect(error).to.have.property('message', 'thought better of it')
        expect(await keysOf(made)).to.deep.equal(ones)
        await db.session().save(made)
        expect(await keysOf(await db.session().load(Post, made.id))).to.deep.equal(ones)
        if (title === 'a new entity') expect(await db.session().find(Member, (target as Member).id)).to.equal(null)
      })
    }
  }

  it('are stored by the next attempt as that one has set them', async () => {
    const hot = bed.fresh()
    await db.session().save(Object.assign(new Note(), { id: hot }))
    const [made, note] = [post(), Object.assign(new Note(), { id: bed.fresh() })]
    let attempts = 0
    await db.transaction(async (session) => {
      const seen = await session.load(Note, hot)
      session.persist(made)
      session.persist(note)
      if (++attempts === 1) {
        const other = session.create(Member, { id: bed.fresh() })
        for (const part of [...(await partsOf(made)), note.mark]) point(part, other)
        await db.withSession(async (outside) => (await outside.load(Note, hot)).mark.by.set(1))
      }
      seen.mark.by.set(2)
    })
    expect(attempts).to.equal(2)
    expect(await keysOf(made)).to.deep.equal(ones)
    expect(await keysOf(await db.session().load(Post, made.id))).to.deep.equal(ones)
    expect((await db.session().load(Note, note.id)).mark.by.key).to.equal(null)
  })
})
