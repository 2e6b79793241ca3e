import { expect } from 'chai'
import { SkeinError, type Database, type EntityClass } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { SETS, ticketsIn, type Client, type Ticket } from './archive-index-models.js'

for (const mode of MODES) {
  describe(`archives of records whose children an index finds (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const { Ticket: ATicket, Step, Mark, Client: AClient, all } = ticketsIn(cold)
    const moving = [ATicket, Step, Mark] as EntityClass[]
    let db: Database
    let namespace: string
    useDatabase(mode, all, (opened) => ({ db, namespace } = opened))

    const countsIn = (where: string): Promise<number[]> =>
      Promise.all(SETS.map(async (set) => (await db.client.query(where, set).results()).length))
    const findings = async (from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(moving, { settle: 0, ...(from && { from }) })) found.push(message)
      return found
    }
    const shown = ({ text, client, steps }: Ticket): unknown => [
      text,
      client.key,
      steps.items.map(({ id, cents, marks }) => [id, cents, marks.items.map((mark) => mark.id)]).sort(),
    ]
    const load = (from?: 'archive' | 'any'): Promise<Ticket> =>
      db.session().load<Ticket>(ATicket, 1, { with: ['steps.marks'] as never, ...(from && { from }) })
    const ALL = [
      't1',
      'ann',
      [
        ['1a', 5, ['1am']],
        ['1b', 5, ['1bm']],
      ],
    ]

    beforeEach(async () => {
      for (const set of SETS) await db.client.truncate(cold, set, 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession((session) => {
        const client = session.create(AClient, { id: 'ann' })
        for (const id of [1, 2]) {
          const ticket = session.create(ATicket, { id, text: `t${id}`, client: client as never })
          for (const name of ['a', 'b']) {
            const step = session.create(Step, { id: `${id}${name}`, cents: 5 })
            step.marks.add(session.create(Mark, { id: `${id}${name}m` }))
            ticket.steps.add(step)
          }
        }
      })
    })

    it('take the children along, and theirs, and bring them back', async () => {
      expect(await db.session().archive(ATicket, 1)).to.equal(true)
      expect([await countsIn(namespace), await countsIn(cold)]).to.deep.equal([
        [1, 2, 2],
        [1, 2, 2],
      ])
      expect(shown(await load('archive'))).to.deep.equal(ALL)
      expect(shown(await load('any'))).to.deep.equal(ALL)
      expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      expect(await db.session().unarchive(ATicket, 1)).to.equal(true)
      expect([await countsIn(namespace), await countsIn(cold)]).to.deep.equal([
        [2, 4, 4],
        [0, 0, 0],
      ])
      expect(shown(await load())).to.deep.equal(ALL)
      expect(await findings()).to.deep.equal([])
    })

    it('leave the index of a parent that stays, and are found there again when they are back', async () => {
      const tickets = async (): Promise<unknown> => {
        const client = await db.session().load<Client>(AClient, 'ann', { with: ['tickets'] as never })
        return client.tickets.items.map(({ id }) => id).sort()
      }
      expect(await tickets()).to.deep.equal([1, 2])
      await db.session().archive(ATicket, 1)
      expect(await tickets()).to.deep.equal([2])
      await db.session().unarchive(ATicket, 1)
      expect(await tickets()).to.deep.equal([1, 2])
    })

    it('take along or refuse a child that others add meanwhile', async () => {
      for (let round = 0; round < 4; round++) {
        const add = async (i: number): Promise<void> => {
          const session = db.session()
          const ticket = await session.find<Ticket>(ATicket, 1)
          if (ticket === null) return
          ticket.steps.add(Object.assign(new Step(), { id: `n${round}${i}`, cents: 1 }))
          await session.flush()
        }
        const tolerated = (error: unknown): void => void expect(error).to.be.instanceOf(SkeinError)
        await Promise.all([db.session().archive(ATicket, 1), ...[1, 2, 3].map((i) => add(i).catch(tolerated))])
        // What was refused is there without a parent, and no child of the archived one is left.
        const left: string[] = []
        for await (const { id, ticket } of db.scan(Step)) if (ticket.key === 1) left.push(id)
        expect(left).to.deep.equal([])
        await db.session().unarchive(ATicket, 1)
      }
    })

    it('are deleted with children that a move has left in the archive', async () => {
      const bring = ['ai_step', 'ai_mark'] as const
      await db.session().archive(ATicket, 1)
      // As if the last step of the move had not been done.
      const { bins } = await db.client.get({ ns: cold, set: 'ai_ticket', key: 1 })
      await db.client.put({ ns: namespace, set: 'ai_ticket', key: 1 }, bins as never)
      expect(await findings()).to.have.length.above(0)
      expect(await db.session().delete(ATicket, 1)).to.equal(true)
      expect(await countsIn(cold)).to.deep.equal([0, 0, 0])
      expect((await countsIn(namespace)).slice(1)).to.deep.equal(bring.map(() => 2))
    })

    it('are reported by verify where a move was cut off after it had closed the record, and opened again by unarchive', async () => {
      const key = { ns: namespace, set: 'ai_ticket', key: 1 }
      await db.client.put(key, { '_sk.moved': 1, '_sk.archiving': 1 })
      expect(await findings()).to.deep.equal([
        `Ticket 1 takes no members: a move to the namespace '${cold}' was cut off, and archiving it again completes it, or unarchiving it calls it off.`,
      ])
      const add = async (): Promise<void> => {
        const session = db.session()
        const ticket = await session.load<Ticket>(ATicket, 1)
        ticket.steps.add(Object.assign(new Step(), { id: 'new', cents: 1 }))
        await session.flush()
      }
      expect(await add().catch((error: unknown) => error)).to.be.instanceOf(SkeinError)
      await db.session().unarchive(ATicket, 1)
      await db.session().delete(Step, 'new')
      await add()
      expect((await load()).steps.items).to.have.length(3)
      expect(await findings()).to.deep.equal([])
    })

    it('need their index in both namespaces, which sync makes', async () => {
      const { unused, missing } = await db.indexes.diff()
      expect([unused.length, missing.length]).to.deep.equal([0, 0])
    })
  })
}
