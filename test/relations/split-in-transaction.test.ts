import { expect } from 'chai'
import type { Database, SkeinError } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { isNamedServer, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { told } from './during-splits.js'
import { Busy, Comment, GROWING_CLASSES, Post, Reader, make } from './growing-models.js'

const READERS = Array.from({ length: 14 }, (_, i) => `r${i}`).sort()

/** Changes of the number of shards; -1 is the owner's own record. */
const COURSES = [
  { from: -1, to: 3 },
  { from: 2, to: 4 },
  { from: 3, to: 2 },
  { from: 2, to: -1 },
] as const

describe('a split in a namespace with transactions', function () {
  this.timeout(60_000)
  let db: Database
  let other: Database
  let server: TestServer
  let namespace: string
  useDatabase('sc', GROWING_CLASSES, (opened) => ({ db, server, namespace } = opened))
  before(async () => {
    other = await server.open({ namespace, entities: GROWING_CLASSES })
  })
  afterEach(() => server.embedded?.faults.clear())
  after(() => other?.close())

  const readers = (of: Database, id: string) => of.session().at(Post, id).collection('readers')
  const move = (of: Database, id: string, to: number): Promise<void> =>
    to < 0 ? readers(of, id).merge() : readers(of, id).shard(to)

  const prepare = async (id: string, from: number): Promise<void> => {
    await db.session().save(make(Post, { id }))
    await db.withSession((session) => {
      session
        .at(Post, id)
        .collection('readers')
        .add(...READERS)
    })
    if (from > 0) await readers(db, id).shard(from)
  }

  for (const { from, to } of COURSES)
    it(`is one transaction, from ${from} to ${to} shards`, async () => {
      await prepare('p', from)
      const { splits, transactions } = await told(() => move(db, 'p', to))
      expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction call'])
      const records = 1 + Math.max(from, to, 0)
      expect(transactions.map(({ state, writes }) => ({ state, writes }))).to.deep.equal([
        { state: 'committed', writes: records },
      ])
      expect(await readers(other, 'p').keys()).to.deep.equal(READERS)
      const { bins } = await db.client.get({ ns: namespace, set: 'gpost', key: 'p' })
      expect(bins.readersIn).to.deep.equal(to < 0 ? undefined : ['hash-shards', to])
      expect(bins.readers).to.deep.equal(to < 0 ? READERS : [])
      const companions = await db.client.query(namespace, 'gpost_readers').results()
      expect(companions).to.have.length(Math.max(to, 0))
      for (const { bins } of companions) expect(bins['_sk.shards']).to.equal(to)
    })

  it('goes on in steps where a companion of an earlier owner is in the way', async () => {
    await db.client.put({ ns: namespace, set: 'gpost_readers', key: 'p:1' }, { '_sk.shards': 7, readers: ['stray'] })
    await prepare('p', -1)
    const { splits } = await told(() => readers(db, 'p').shard(4))
    expect(splits.map(({ how }) => how)).to.deep.equal(['steps'])
    expect(await readers(other, 'p').keys()).to.deep.equal(READERS)
  })

  it('shows all members or says that it cannot, while a record has not heard of the commit', async function () {
    if (isNamedServer) this.skip()
    const { faults, clock } = server.embedded as EmbeddedServer
    let turn = 0
    let refusals = 0
    for (const { from, to } of COURSES) {
      const records = 1 + Math.max(from, to)
      // Reading takes seconds where it cannot be told: by default it is one record of each move.
      const skips = process.env.SKEIN_FAULTS === 'all' ? [...Array(records).keys()] : [to < 0 ? 0 : records - 1]
      for (const skip of skips) {
        const id = `p${turn++}`
        await prepare(id, from)
        await readers(other, id).count()
        await faults.add({ namespace, kind: 'txn-roll-forward', skip, answer: 9 })
        await move(db, id, to).catch(() => undefined)
        const where = `from ${from} to ${to}, record ${skip}`
        const seen = await readers(other, id)
          .keys()
          .catch((error: SkeinError) => error.code)
        if (seen === 'SKEIN_3302') refusals++
        else expect(seen, where).to.deep.equal(READERS)
        await faults.clear()
        await clock.advance(30)
        expect(await readers(other, id).keys(), where).to.deep.equal(READERS)
        await move(db, id, to)
        expect(await readers(other, id).keys(), where).to.deep.equal(READERS)
      }
    }
    expect(refusals).to.be.above(0)
  })

  it('comes first where a flush that makes the members finds the record full', async () => {
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
    const plain = await server.open({ namespace, entities: GROWING_CLASSES, transactions: 'off' })
    try {
      await prepare('p', -1)
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
