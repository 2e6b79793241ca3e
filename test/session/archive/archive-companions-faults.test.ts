import { expect } from 'chai'
import type { Database } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { ALONG, comment, idsIn, postIn, Reader, type Post } from './archive-companion-models.js'

const { Post: Archived, all } = postIn('cold')
const ALL = [['a', 'c'], [], ['x'], [1]]

/** A scan after every fault takes a minute: unless asked for, it is one after every third. */
let turn = 0
const isScanned = (): boolean => process.env.SKEIN_FAULTS === 'all' || turn++ % 3 === 0

// A move between namespaces is never a transaction, so both modes do the same.
for (const mode of process.env.SKEIN_FAULTS === 'all' ? MODES : (['ap'] as const)) {
  describe(`archives of a record with companions, with a fault at each command (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, all)

    const store = async (db: Database): Promise<void> => {
      await db.session().unarchive(Archived, 1)
      await db.session().delete(Archived, 1)
      await db.withSession((session) => {
        const post = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
        post.comments.add(...['a', 'c'].map((id, day) => comment(id, day)))
        post.dated.add(comment('x', 1))
        post.readers.add(session.create(Reader, { id: 1 }))
      })
      await db.withSession((session) => void session.at<Post>(Archived, 1).counter('views').add(2))
    }
    const load = (db: Database, from?: 'archive' | 'any'): Promise<Post> =>
      db.session().load<Post>(Archived, 1, { with: ALONG, ...(from && { from }) })
    /** The post is somewhere, with all that belongs to it. */
    const check = async (db: Database, where: string): Promise<void> => {
      const post = await load(db, 'any')
      expect([post.title, post.views, idsIn(post)], where).to.deep.equal(['t', 2, ALL])
    }
    const repair = async (db: Database, where: string): Promise<void> => {
      for (const from of [undefined, 'archive'] as const)
        for await (const { kind, state, message } of db.verify(Archived, {
          settle: 0,
          repair: true,
          ...(from && { from }),
        }))
          expect([kind, state], `${where}: ${message}`).to.deep.equal(['unfinishedArchive', 'found'])
    }
    const whole = async (db: Database, where: string): Promise<void> => {
      for (const from of [undefined, 'archive'] as const)
        for await (const { message } of db.verify(Archived, { settle: 0, ...(from && { from }) }))
          expect.fail(`${where}: ${message}`)
    }

    it('lose nothing when they are archived, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(Archived, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          if (isScanned()) await repair(db, where).then(() => check(db, where))
          await db.session().archive(Archived, 1)
          expect(await db.session().find(Archived, 1), where).to.equal(null)
          await check(db, where)
          if (isScanned()) await whole(db, where)
        },
      })
    })

    it('can be called off after a fault: the record takes members again', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(Archived, 1),
        check: async (db, _error, where) => {
          await db.session().unarchive(Archived, 1)
          const session = db.session()
          const post = await session.load<Post>(Archived, 1, { with: ALONG })
          expect(idsIn(post), where).to.deep.equal(ALL)
          post.comments.add(comment('d', 5))
          post.dated.add(comment('z', 9))
          post.readers.remove(1)
          post.views += 1
          await session.flush()
          const again = await load(db)
          expect([again.views, ...idsIn(again)], where).to.deep.equal([3, ['a', 'c', 'd'], [], ['x', 'z'], []])
        },
      })
    })

    it('lose nothing when they are brought back, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: async (db) => {
          await store(db)
          await db.session().archive(Archived, 1)
        },
        work: (db) => db.session().unarchive(Archived, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          if (isScanned()) await repair(db, where).then(() => check(db, where))
          await db.session().unarchive(Archived, 1)
          const session = db.session()
          const post = await session.load<Post>(Archived, 1, { with: ALONG })
          expect([post.views, idsIn(post)], where).to.deep.equal([2, ALL])
          post.comments.add(comment('d', 5))
          post.views += 1
          await session.flush()
          expect((await load(db)).comments.items, where).to.have.length(3)
        },
      })
    })
  })
}
