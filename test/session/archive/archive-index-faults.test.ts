import { expect } from 'chai'
import type { Database, EntityClass } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { ticketsIn, type Ticket } from './archive-index-models.js'

const { Ticket: ATicket, Step, Mark, all } = ticketsIn('cold')
const MOVING = [ATicket, Step, Mark] as EntityClass[]

// A move between namespaces is never a transaction, so both modes do the same.
for (const mode of process.env.SKEIN_FAULTS === 'all' ? MODES : (['ap'] as const)) {
  describe(`archives of a record whose children an index finds, with a fault at each command (${mode})`, function () {
    this.timeout(120_000)
    const server = FaultyServer.use(mode, all)

    const store = async (db: Database): Promise<void> => {
      await db.session().unarchive(ATicket, 1)
      await db.session().delete(ATicket, 1)
      await db.withSession((session) => {
        const ticket = session.create(ATicket, { id: 1, text: 't' })
        const step = session.create(Step, { id: 'a', cents: 5 })
        step.marks.add(session.create(Mark, { id: 'am' }))
        ticket.steps.add(step)
      })
    }
    /** Every record is somewhere, as it was. */
    const check = async (db: Database, where: string): Promise<void> => {
      const session = db.session()
      const ticket = await session.find(ATicket, 1, { from: 'any' })
      const step = await session.find(Step, 'a', { from: 'any' })
      const mark = await session.find(Mark, 'am', { from: 'any' })
      expect([ticket?.text, step?.cents, step?.ticket.key, mark?.id], where).to.deep.equal(['t', 5, 1, 'am'])
      await session.close()
    }
    const whole = async (db: Database, from: 'archive' | undefined, where: string): Promise<void> => {
      const options = { with: ['steps.marks'] as never, ...(from && { from }) }
      const { steps } = await db.session().load<Ticket>(ATicket, 1, options)
      const ids = steps.items.map(({ id, marks }) => [id, ...marks.items.map((mark) => mark.id)])
      expect(ids, where).to.deep.equal([['a', 'am']])
    }

    it('lose nothing when they are archived, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: store,
        work: (db) => db.session().archive(ATicket, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          for await (const { kind, state } of db.verify(MOVING, { settle: 0, repair: true }))
            expect([kind, state], where).to.deep.equal(['unfinishedArchive', 'found'])
          await db.session().archive(ATicket, 1)
          await check(db, where)
          await whole(db, 'archive', where)
          expect(await db.scan(Step).count(), where).to.equal(0)
        },
      })
    })

    it('lose nothing when they are brought back, and complete it when that is repeated', async () => {
      await server.disturb({
        prepare: async (db) => {
          await store(db)
          await db.session().archive(ATicket, 1)
        },
        work: (db) => db.session().unarchive(ATicket, 1),
        check: async (db, _error, where) => {
          await check(db, where)
          await db.session().unarchive(ATicket, 1)
          await check(db, where)
          await whole(db, undefined, where)
        },
      })
    })
  })
}
