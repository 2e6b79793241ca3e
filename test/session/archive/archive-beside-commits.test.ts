import { expect } from 'chai'
import { collection, Key, ManyToOne, OneToMany, Record, ref, SkeinError, type Database } from 'skein'
import { isNamedServer, type TestServer } from '../../server.js'
import { addFault } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { comment, postIn, Reader, type Post } from './archive-companion-models.js'
import { remark, topicIn, type Topic } from './archive-growing-models.js'

@Record({ set: 'ab_basket', archive: 'more' })
class Basket {
  @Key() id!: number
  @OneToMany(() => Item, 'basket', { onDelete: 'cascade' }) items = collection<Item>()
}

@Record({ set: 'ab_item', archive: 'more' })
class Item {
  @Key() id!: number
  @ManyToOne(() => Basket, 'items') basket = ref<Basket>()
}

/** A commit is decided, and one record has not heard of it: it seems to be missing until the server completes the transaction. */
describe('a record that is archived before all of its own have heard of a commit', function () {
  if (isNamedServer) return
  const { Post: APost, all: posts } = postIn('more')
  const { Topic: ATopic, all: topics } = topicIn('more')
  let db: Database
  let server: TestServer
  let namespace: string
  useDatabase('sc', [...posts, ...topics, Basket, Item], (opened) => ({ db, server, namespace } = opened))

  interface Committed {
    readonly title: string
    readonly owner: new () => { id: number }
    readonly store: (id: number) => Promise<unknown>
    /** Work whose commit is cut off. */
    readonly work: (id: number) => Promise<unknown>
    readonly shown: (id: number) => Promise<unknown>
    readonly expected: unknown
  }
  const CASES: readonly Committed[] = [
    {
      title: 'companions that it has made',
      owner: APost,
      store: (id) => db.session().save(Object.assign(new APost(), { id })),
      work: (id) =>
        db.withSession(async (session) => {
          const post = await session.load<Post>(APost, id)
          post.comments.add(comment('a'))
          post.readers.add(session.create(Reader, { id }))
        }),
      shown: async (id) => {
        const post = await db.session().load<Post>(APost, id, { from: 'archive', with: ['comments', 'readers'] })
        return [post.comments.items.length, post.readers.items.length]
      },
      expected: [1, 1],
    },
    {
      title: 'members that it has split',
      owner: ATopic,
      store: (id) =>
        db.withSession((session) => {
          const topic = session.persist(Object.assign(new ATopic(), { id }))
          topic.remarks.add(...['a', 'b', 'c', 'd'].map((each) => remark(each)))
        }),
      work: (id) => db.session().at<Topic>(ATopic, id).collection('remarks').shard(2),
      shown: async (id) =>
        (await db.session().load<Topic>(ATopic, id, { from: 'archive', with: ['remarks'] })).remarks.items.length,
      expected: 4,
    },
    {
      title: 'children that it has created',
      owner: Basket,
      store: (id) => db.withSession((session) => void session.create(Basket, { id })),
      work: (id) =>
        db.withSession(async (session) => (await session.load(Basket, id)).items.add(session.create(Item, { id }))),
      shown: async (id) =>
        (await db.session().load(Basket, id, { from: 'archive', with: ['items'] })).items.items.length,
      expected: 1,
    },
  ]

  const tolerate = (error: unknown): void => void expect(error).to.be.instanceOf(SkeinError)

  for (const { title, owner, store, work, shown, expected } of CASES)
    it(`takes ${title} along, or is refused`, async function () {
      for (let skip = 0, isHit = true; isHit; skip++) {
        const id = skip + 1
        await store(id)
        const fault = await addFault(this, server, { kind: 'txn-roll-forward', namespace, skip, answer: 9 })
        await work(id).catch(tolerate)
        isHit = (await fault.hits()) > 0
        await server.embedded!.faults.clear()
        await db.session().archive(owner, id).catch(tolerate)
        await server.embedded!.clock.advance(30)
        await db.session().archive(owner, id)
        expect(await db.session().find(owner, id), `record ${skip}`).to.equal(null)
        expect(await shown(id), `record ${skip}`).to.deep.equal(expected)
        await db.session().unarchive(owner, id)
      }
    })
})
