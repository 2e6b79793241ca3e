import { expect } from 'chai'
import type { Database, EntityClass } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { Author, familyIn, Remark, type Bill } from './archive-family-models.js'

const { Bill: ArchivedBill, Line, Note, Receipt, all } = familyIn('cold')
const SETS = [ArchivedBill, Line, Note, Receipt] as EntityClass[]

// A move between namespaces is never a transaction, so both modes do the same.
for (const mode of process.env.SKEIN_FAULTS === 'all' ? MODES : (['ap'] as const)) {
  describe(`archives of a record with its children, with a fault at each command (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, all)

    const clear = async (db: Database): Promise<void> => {
      await db.session().unarchive(ArchivedBill, 1)
      await db.session().delete(ArchivedBill, 1)
    }
    const store = async (db: Database): Promise<void> => {
      await clear(db)
      await db.withSession(async (session) => {
        session.create(Author, { id: 'ann' })
        const bill = session.create(ArchivedBill, { id: 1, text: 't' })
        for (const id of ['a']) {
          const line = session.create(Line, { id, cents: 5 })
          line.notes.add(session.create(Note, { id: `${id}n` }))
          bill.lines.add(line)
        }
        const remark = Object.assign(new Remark(), { id: 1, text: 'x', weight: 2 })
        remark.by.set('ann')
        bill.remarks.add(remark)
        bill.receipt.set(Object.assign(new Receipt(), { id: 1, number: 'r' }))
      })
    }
    /** Every record is somewhere, as it was. */
    const check = async (db: Database, where: string): Promise<void> => {
      const session = db.session()
      const [bill] = await session.findMany(ArchivedBill, [1], { from: 'any' })
      const lines = await session.findMany(Line, ['a'], { from: 'any' })
      const notes = await session.findMany(Note, ['an'], { from: 'any' })
      const receipt = await session.find(Receipt, 1, { from: 'any' })
      expect(
        [bill?.text, bill?.remarks.items[0].weight, receipt?.number, ...lines.map((line) => line?.cents)],
        where,
      ).to.deep.equal(['t', 2, 'r', 5])
      expect(
        notes.map((note) => note?.line.key),
        where,
      ).to.deep.equal(['a'])
      await session.close()
    }
    const whole = async (db: Database, from: 'archive' | undefined, where: string): Promise<void> => {
      const options = { with: ['lines.notes', 'receipt'] as never, ...(from && { from }) }
      const bill = await db.session().load<Bill>(ArchivedBill, 1, options)
      expect(
        bill.lines.items.map(({ id, notes }) => [id, notes.items.length]),
        where,
      ).to.deep.equal([['a', 1]])
      for (const each of [undefined, 'archive'] as const)
        for await (const { message } of db.verify(SETS, { settle: 0, ...(each && { from: each }) }))
          expect.fail(`${where}: ${message}`)
    }

    it('lose nothing when they are archived, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(ArchivedBill, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          // A repair between the two attempts destroys nothing.
          for await (const { kind, state } of db.verify(SETS, { settle: 0, repair: true }))
            expect([kind, state], where).to.deep.equal(['unfinishedArchive', 'found'])
          await db.session().archive(ArchivedBill, 1)
          await check(db, where)
          await whole(db, 'archive', where)
          expect(await db.scan(Line).count(), where).to.equal(0)
        },
      })
    })

    it('lose nothing when they are brought back, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: async (db) => {
          await store(db)
          await db.session().archive(ArchivedBill, 1)
        },
        work: (db) => db.session().unarchive(ArchivedBill, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          await db.session().unarchive(ArchivedBill, 1)
          await check(db, where)
          expect((await db.session().load(ArchivedBill, 1)).text, where).to.equal('t')
          expect(await db.scan(Line).count(), where).to.equal(1)
        },
      })
    })
  })
}
