import { expect } from 'chai'
import type { Database } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { Shop, orderIn, type Order } from './archive-models.js'

const Archived = orderIn('cold')
const order = (id: number): Order => Object.assign(new Archived(), { id, text: `t${id}`, rate: 2 })

for (const mode of MODES) {
  describe(`archives with a fault at each command (${mode})`, function () {
    this.timeout(60_000)
    const server = FaultyServer.use(mode, [Archived, Shop])

    /** Expects of two orders all that was stored, once. */
    const check = async (db: Database, where: string): Promise<void> => {
      const session = db.session()
      const found = await session.findMany(Archived, [1, 2], { from: 'any' })
      expect(
        found.map((each) => [each?.text, each?.rate, each?.version]),
        where,
      ).to.deep.equal([
        ['t1', 2, 1],
        ['t2', 2, 1],
      ])
    }
    const clear = async (db: Database): Promise<void> => {
      for (const id of [1, 2]) await db.session().unarchive(Archived, id)
      for (const id of [1, 2]) await db.session().delete(Archived, id)
    }
    const store = async (db: Database): Promise<void> => {
      await clear(db)
      for (const id of [1, 2]) await db.session().save(order(id))
    }

    it('lose nothing and have nothing twice when records are archived, and complete it when that is repeated', async () => {
      const olderThan = new Date(Date.now() + 1_000_000)
      await server.disturb({
        prepare: store,
        work: (db) => db.archive(Archived, { olderThan }),
        check: async (db, error, where) => {
          await check(db, where)
          await db.archive(Archived, { olderThan })
          await check(db, where)
          expect(await db.scan(Archived).count(), where).to.equal(0)
          if (error === undefined) expect(await db.archive(Archived, { olderThan }), where).to.equal(0)
        },
      })
    })

    it('lose nothing when a record is brought back, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: async (db) => {
          await store(db)
          await db.session().archive(Archived, 1)
        },
        work: (db) => db.session().unarchive(Archived, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          await db.session().unarchive(Archived, 1)
          await check(db, where)
          expect((await db.session().find(Archived, 1))?.text, where).to.equal('t1')
        },
      })
    })

    it('stay deleted when a record is deleted whose move was cut off', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(Archived, 1),
        check: async (db, _error, where) => {
          if ((await db.session().find(Archived, 1)) === null) await db.session().unarchive(Archived, 1)
          await db.session().delete(Archived, 1)
          expect(await db.session().find(Archived, 1, { from: 'any' }), where).to.equal(null)
        },
      })
    })
  })
}
