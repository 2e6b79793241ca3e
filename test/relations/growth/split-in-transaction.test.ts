import { expect } from 'chai'
import type { Database } from 'skein'
import { told } from './during-splits.js'
import { Busy, Comment, GROWING_CLASSES, Post, Reader, make } from './growing-models.js'
import { COURSES, testSplitsAtOnce } from './split-at-once.js'

const READERS = Array.from({ length: 14 }, (_, i) => `r${i}`).sort()

const readers = (of: Database, id: string) => of.session().at(Post, id).collection('readers')

async function store(db: Database, id: string): Promise<void> {
  await db.session().save(make(Post, { id }))
  await db.withSession((session) => {
    session
      .at(Post, id)
      .collection('readers')
      .add(...READERS)
  })
}

describe('a split in a namespace with transactions', function () {
  this.timeout(60_000)
  const opened = testSplitsAtOnce({
    entities: GROWING_CLASSES,
    set: 'gpost_readers',
    of: readers,
    store,
    shown: (of, id) => readers(of, id).keys(),
    expected: READERS,
    lateCommits: COURSES,
    check: async ({ db, namespace }, id, to) => {
      const { bins } = await db.client.get({ ns: namespace, set: 'gpost', key: id })
      expect(bins.readersIn).to.deep.equal(to < 0 ? undefined : ['hash-shards', to])
      expect(bins.readers).to.deep.equal(to < 0 ? READERS : [])
    },
  })

  it('comes first where a flush that makes the members finds the record full', async () => {
    const { db } = opened()
    await db.session().save(make(Busy, { id: 'b' }))
    const { splits } = await told(async () => {
      for (const from of [0, 400, 800])
        await db.withSession((session) => {
          const kept = session.at(Busy, 'b').collection('kept')
          for (let i = 0; i < 400; i++)
            kept.add(session.persist(make(Reader, { id: `r${from + i}`.padEnd(1_000, '-') })))
        })
    })
    expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction tooLarge'])
    expect(await db.session().at(Busy, 'b').collection('kept').count()).to.equal(1_200)
  })

  it('is none where the database or the flush shall use no transactions', async () => {
    const { db, other, server, namespace } = opened()
    const plain = await server.open({ namespace, entities: GROWING_CLASSES, transactions: 'off' })
    try {
      await store(db, 'p')
      const { splits, transactions } = await told(async () => {
        await readers(plain, 'p').shard(3)
        await readers(plain, 'p').merge()
        for (const [of, options] of [
          [plain, {}],
          [db, { transactions: 'off' }],
        ] as const) {
          const session = of.session()
          const post = session.persist(make(Post, { id: `of ${options.transactions ?? 'plain'}` }))
          await session.flush(options)
          for (let i = 0; i < 25; i++)
            post.comments.add(session.persist(make(Comment, { id: i + (of === db ? 100 : 0) })))
          await session.flush(options)
        }
      })
      expect(transactions).to.deep.equal([])
      expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal([
        'steps call',
        'steps call',
        'steps members',
        'steps members',
      ])
      expect(await readers(other, 'p').keys()).to.deep.equal(READERS)
    } finally {
      await plain.close()
    }
  })
})
