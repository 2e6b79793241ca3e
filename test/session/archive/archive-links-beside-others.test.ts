import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { LINKS, linksOf, ordersIn, type LinkClasses, type Order } from './archive-link-models.js'

interface Change {
  readonly title: string
  /** The order is linked before. */
  readonly isLinked: boolean
  readonly change: (session: Session, id: number) => Promise<void>
}

const changesOf = ({ Order, Customer, Tag }: LinkClasses): readonly Change[] => [
  {
    title: 'an add from the other side',
    isLinked: false,
    async change(session, id) {
      ;(await session.load(Tag, 1)).orders.add(id)
      ;(await session.load(Customer, 'ann')).orders.add(id)
    },
  },
  {
    title: 'a removal from the other side',
    isLinked: true,
    async change(session, id) {
      ;(await session.load(Tag, 1)).orders.remove(id)
      ;(await session.load(Customer, 'ann')).orders.remove(id)
    },
  },
  {
    title: 'an add from its own side',
    isLinked: false,
    async change(session, id) {
      const order = await session.load(Order, id)
      order.tags.add(1)
      order.customer.set('ann')
    },
  },
  {
    title: 'a removal from its own side',
    isLinked: true,
    async change(session, id) {
      const order = await session.load(Order, id)
      order.tags.remove(1)
      order.customer.set(null)
    },
  },
]

for (const mode of MODES) {
  describe(`a link that is changed while its record is archived (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const classes = ordersIn(cold)
    const { Order, Customer, Tag } = classes
    let db: Database
    let server: TestServer
    useDatabase(mode, classes.all, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.client.truncate(cold, 'al_order', 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
    })

    const findings = async (from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      const verified = from === undefined ? classes.all : [Order]
      for await (const { message } of db.verify(verified, { settle: 0, ...(from && { from }) })) found.push(message)
      return found
    }
    const store = (id: number, isLinked: boolean): Promise<void> =>
      db.withSession((session) => {
        const order = session.create(Order, { id })
        if (!isLinked) return
        order.customer.set('ann')
        order.tags.add(1)
      })

    for (const { title, isLinked, change } of changesOf(classes))
      it(`is the same at both sides, whichever command is late: ${title}`, async function () {
        await db.withSession((session) => {
          session.create(Customer, { id: 'ann' })
          session.create(Tag, { id: 1 })
        })
        for (let id = 10, isHit = true; isHit; id++) {
          await store(id, isLinked)
          const fault = await addFault(this, server, { skip: id - 10, delay: 25 })
          const work = db
            .withSession((session) => change(session, id))
            .then(
              () => true,
              () => false,
            )
          await untilHit(fault, work)
          isHit = (await fault.hits()) > 0
          await db.session().archive(Order, id)
          const isDone = await work
          await server.embedded!.faults.clear()
          const where = `${isDone ? 'done' : 'refused'}, command ${id - 10}`
          expect(await findings(), where).to.deep.equal([])
          await db.session().unarchive(Order, id)
          const order = await db.session().load<Order>(Order, id, { with: LINKS })
          const [customer, tags] = linksOf(order)
          if (isDone) expect([customer, tags], where).to.deep.equal(isLinked ? [null, []] : ['ann', [1]])
          expect([...(await findings()), ...(await findings('archive'))], where).to.deep.equal([])
        }
      })
  })
}
