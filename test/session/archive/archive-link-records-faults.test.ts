import { expect } from 'chai'
import type { Database } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { LINKS, linksOf, peopleIn, type Paper, type Person } from './archive-link-record-models.js'

const { Person: APerson, Paper: APaper, Access: AnAccess, all } = peopleIn('cold')
const ALL = [[20], [20], [1, 2]]

for (const mode of process.env.SKEIN_FAULTS === 'all' ? MODES : (['ap'] as const)) {
  describe(`archives of an end of link records, with a fault at each command (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, all)

    const store = async (db: Database): Promise<void> => {
      for (const id of [10, 20]) {
        await db.session().unarchive(APerson, id)
        await db.session().delete(APerson, id)
      }
      await db.withSession((session) => {
        const [ann, bob] = [10, 20].map((id) => session.create(APerson, { id }))
        ann.follows.link(bob, { kind: 'friend' })
        bob.follows.link(ann, { kind: 'work' })
        for (const id of [1, 2]) ann.papers.link(session.create(APaper, { id }), { role: 'reader' })
      })
    }
    const archived = (db: Database): Promise<unknown> => store(db).then(() => db.session().archive(APerson, 10))
    const load = (db: Database): Promise<Person> => db.session().load<Person>(APerson, 10, { with: LINKS })
    /** All ends agree, wherever the person is; a move that was cut off is all that may be reported. */
    const agree = async (db: Database, where: string): Promise<void> => {
      for (const from of [undefined, 'archive'] as const)
        for await (const { kind, message } of db.verify(from ? [APerson] : all, { settle: 0, ...(from && { from }) }))
          expect(kind, `${where}: ${message}`).to.equal('unfinishedArchive')
    }
    const repair = async (db: Database): Promise<void> => {
      for (const each of all) await db.sweep(each)
      for (const from of [undefined, 'archive'] as const)
        for await (const _ of db.verify(from ? [APerson] : all, { settle: 0, repair: true, ...(from && { from }) }));
    }

    it('lose no link when they are archived, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(APerson, 10),
        check: async (db, _error, where) => {
          await repair(db)
          await agree(db, where)
          await db.session().archive(APerson, 10)
          expect(await db.session().find(APerson, 10), where).to.equal(null)
          await db.session().unarchive(APerson, 10)
          expect(linksOf(await load(db)), where).to.deep.equal(ALL)
        },
      })
    })

    it('drop links that were ended meanwhile, wherever the way back was cut off', async () => {
      await server.disturb({
        prepare: async (db) => {
          await archived(db)
          await db.withSession(async (session) => void (await session.load<Paper>(APaper, 1)).people.unlink(10))
          await db.session().delete(APerson, 20)
        },
        work: (db) => db.session().unarchive(APerson, 10),
        check: async (db, _error, where) => {
          const isThere = (await db.session().find(APerson, 10)) !== null
          if (isThere) await repair(db)
          await db.session().unarchive(APerson, 10)
          expect(linksOf(await load(db)), where).to.deep.equal([[], [], [2]])
          // The record takes links again.
          await db.withSession(async (session) => void (await session.load<Paper>(APaper, 1)).people.link(10, {}))
          expect(linksOf(await load(db)), where).to.deep.equal([[], [], [1, 2]])
          await agree(db, where)
        },
      })
    })

    it('keep a link that another end makes again in vain', async () => {
      await server.disturb({
        prepare: archived,
        work: (db) =>
          db
            .withSession(async (session) => void (await session.load<Paper>(APaper, 1)).people.link(10, {}))
            .catch(() => undefined),
        check: async (db, _error, where) => {
          await repair(db)
          await agree(db, where)
          await db.session().unarchive(APerson, 10)
          expect(linksOf(await load(db)), where).to.deep.equal(ALL)
          expect(await db.session().linkOf(AnAccess, 10, 1), where).not.to.equal(null)
        },
      })
    })

    it('have no link that another end has ended, wherever that was cut off', async () => {
      await server.disturb({
        prepare: archived,
        work: (db) => db.withSession(async (session) => void (await session.load<Paper>(APaper, 1)).people.unlink(10)),
        check: async (db, error, where) => {
          await repair(db)
          await agree(db, where)
          await db.session().unarchive(APerson, 10)
          const isThere = (await db.session().linkOf(AnAccess, 10, 1)) !== null
          if (error === undefined) expect(isThere, where).to.equal(false)
          expect(linksOf(await load(db)), where).to.deep.equal([[20], [20], isThere ? [1, 2] : [2]])
          await agree(db, where)
        },
      })
    })

    it('have no link to another end that was deleted, wherever that was cut off', async () => {
      await server.disturb({
        prepare: archived,
        work: (db) => db.session().delete(APaper, 1),
        check: async (db, _error, where) => {
          await db.session().delete(APaper, 1)
          await repair(db)
          await agree(db, where)
          await db.session().unarchive(APerson, 10)
          expect(linksOf(await load(db)), where).to.deep.equal([[20], [20], [2]])
          expect(await db.session().linkOf(AnAccess, 10, 1), where).to.equal(null)
        },
      })
    })
  })
}
