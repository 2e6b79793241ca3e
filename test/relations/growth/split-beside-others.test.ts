import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { type Database } from 'skein'
import { ALL_FAULTS } from '../../faults/faults.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { forAll, untilDone } from './during-splits.js'
import { Club, Fan, GROWING_CLASSES, Person, Post, make } from './growing-models.js'

/** Changes of one member, one after another; those of others go on at the same time. */
const MEMBERS = 100
const CHANGES = 10
/** Members with attributes, which are written in transactions with their other side; a thousand changes where all are asked for. */
const LINKED = ALL_FAULTS ? 100 : 20

for (const mode of MODES) {
  describe(`a split beside others (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    let other: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_CLASSES, (opened) => ({ server, namespace } = opened))
    before(async () => {
      // As patient as a database is by default: one split after another holds the records that are written.
      const options = { namespace, entities: GROWING_CLASSES, retry: { attempts: Infinity, deadline: 30_000 } }
      ;[db, other] = await Promise.all([server.open(options), server.open(options)])
    })
    after(() => Promise.all([db?.close(), other?.close()]))

    /** A random walk of one member in and out of a collection; true where it ends inside. */
    const wander = async (change: (isIn: boolean) => Promise<unknown>): Promise<boolean> => {
      let isIn = false
      for (let step = 0; step < CHANGES; step++) {
        isIn = Math.random() < 0.6
        await untilDone(() => change(isIn))
      }
      return isIn
    }

    it('loses no member, keeps none that was taken out, and shows each once', async () => {
      await db.session().save(make(Post, { id: 'p' }))
      const stays = Array.from({ length: 60 }, (_, i) => `stays-${i}`)
      const readers = (of: Database) => of.session().at(Post, 'p').collection('readers')
      await db.withSession(
        (session) =>
          void session
            .at(Post, 'p')
            .collection('readers')
            .add(...stays),
      )
      const expected = new Set(stays)
      let isOver = false
      const changes = forAll(MEMBERS, async (i) => {
        const id = `m${i}`
        const own = i % 2 === 0 ? db : other
        const isIn = await wander((isIn) =>
          own.withSession((session) => {
            const collection = session.at(Post, 'p').collection('readers')
            if (isIn) collection.add(id)
            else collection.remove(id)
          }),
        )
        if (isIn) expected.add(id)
      }).finally(() => (isOver = true))
      const splits = (async () => {
        for (let i = 0; !isOver || i < 5; i++) {
          const shards = [4, 16, 3, 0, 2][i % 5]
          const of = i % 2 === 0 ? other : db
          await (shards === 0 ? readers(of).merge() : readers(of).shard(shards))
          await pause(10)
        }
      })()
      const looks = (async () => {
        while (!isOver) {
          const keys = await readers(other).keys()
          expect(new Set(keys).size).to.equal(keys.length)
          expect(stays.filter((id) => !keys.includes(id))).to.deep.equal([])
          expect(await readers(db).contains(stays[7])).to.equal(true)
        }
      })()
      await Promise.all([changes, splits, looks])
      expect([...(await readers(db).keys())]).to.deep.equal([...expected].sort())
      expect(await readers(other).count()).to.equal(expected.size)
    })

    it('takes out a member whose record was away and is there again while the owner is asked', async function () {
      if (server.embedded === undefined) this.skip()
      const { faults } = server.embedded
      const ids = Array.from({ length: 12 }, (_, i) => `m${i}`)
      await db.session().save(make(Post, { id: 'p' }))
      const readers = (of: Database) => of.session().at(Post, 'p').collection('readers')
      await db.withSession(
        (session) =>
          void session
            .at(Post, 'p')
            .collection('readers')
            .add(...ids),
      )
      await readers(db).shard(8)
      await readers(other).shard(1)
      const ask = await faults.add({ namespace, set: 'gpost', key: 'p', kind: 'write', delay: 300 })
      const removal = db.withSession((session) => void session.at(Post, 'p').collection('readers').remove('m1'))
      while ((await ask.hits()) === 0) await pause(1)
      await readers(other).shard(8)
      await removal
      expect(await readers(other).keys()).to.deep.equal(ids.filter((id) => id !== 'm1').sort())
    })

    it('keeps the attributes of links, as they were changed last', async () => {
      await db.withSession((session) => {
        session.persist(make(Club, { id: 'c' }))
        for (let i = 0; i < LINKED; i++) session.persist(make(Person, { id: i }))
      })
      const people = (of: Database) => of.session().at(Club, 'c').collection('people')
      const expected = new Map<number, string>()
      let isOver = false
      const changes = forAll(LINKED, async (i) => {
        const own = i % 2 === 0 ? db : other
        let role = ''
        const isIn = await wander((isIn) =>
          own.withSession((session) => {
            const collection = session.at(Person, i).collection('clubs')
            if (isIn) collection.link('c', { role: (role = `${Math.random()}`), share: i })
            else collection.remove('c')
          }),
        )
        if (isIn) expected.set(i, role)
      }).finally(() => (isOver = true))
      const splits = (async () => {
        for (let i = 0; !isOver || i < 3; i++) {
          const shards = [3, 8, 0][i % 3]
          await (shards === 0 ? people(other).merge() : people(other).shard(shards))
          await pause(10)
        }
      })()
      await Promise.all([changes, splits])
      const session = db.session()
      const club = await session.load(Club, 'c', { with: ['people'] })
      const found = await Promise.all(
        club.people.items.map(async (person) => [person.id, (await club.people.attributesOf(person))!.role]),
      )
      expect(found).to.deep.equal([...expected].sort(([a], [b]) => a - b))
      for (let i = 0; i < LINKED; i++)
        expect(await db.session().at(Person, i).collection('clubs').contains('c')).to.equal(expected.has(i))
    })

    it('ends once its members have moved, also where others split the collection again at once', async () => {
      await db.withSession((session) => {
        session.persist(make(Post, { id: 'p' }))
        session.at(Post, 'p').collection('readers').add('a', 'b', 'c')
      })
      const split = async (of: Database, shards: number): Promise<void> => {
        const readers = of.session().at(Post, 'p').collection('readers')
        for (let i = 0; i < 3; i++) await readers.shard(shards)
      }
      await forAll(20, (i) => split(i % 2 === 0 ? db : other, i + 2))
      expect(await db.session().at(Post, 'p').collection('readers').keys()).to.deep.equal(['a', 'b', 'c'])
    })

    it('does not bring an owner back that is deleted meanwhile', async () => {
      for (let round = 0; round < 8; round++) {
        const id = `f${round}`
        await db.withSession((session) => {
          const fan = session.persist(make(Fan, { id }))
          for (let i = 0; i < 12; i++) fan.followers.add(session.persist(make(Fan, { id: `${id}-${i}` })))
        })
        const split = other.session().at(Fan, id).collection('followers').shard(3)
        const [, deleted] = await Promise.allSettled([split, db.session().delete(Fan, id)])
        if (deleted.status === 'rejected') await db.session().delete(Fan, id)
        for (const set of ['gfan', 'gfan_followers', 'gfan_follows']) {
          const records = await db.client.query(namespace, set).results()
          const left = records.filter(({ bins }) => (bins['_sk.root'] ?? bins.id) === id)
          expect(left.map(({ bins }) => bins)).to.deep.equal([])
        }
        for (let i = 0; i < 12; i++)
          expect(await db.session().at(Fan, `${id}-${i}`).collection('follows').count()).to.equal(0)
      }
    })
  })
}
