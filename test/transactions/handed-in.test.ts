import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { Order, Stock, line, order, stock } from '../relations/strategies/consolidate/consolidate-models.js'
import { Agent, Listing, agent, listing } from '../relations/models.js'
import { Person } from '../session/models.js'
import { Bed, rejection } from './bed.js'

describe('an entity that is handed in to a transaction which is undone', () => {
  let bed: Bed
  let db: Database
  before(async function () {
    bed = await Bed.start(this)
    db = await bed.open({ entities: [Stock, Order, Agent, Listing, Person] })
  })
  after(() => bed?.stop())

  const key = (): string => `h${bed.fresh()}`
  const stored = async (id: string): Promise<unknown> => (await db.session().load(Stock, id)).lines.keys()
  const undone = (work: Parameters<Database['transaction']>[0]): Promise<unknown> =>
    rejection(
      db.transaction(async (session) => {
        await work(session)
        await session.flush()
        throw new Error('thought better of it')
      }),
    )

  it('has no children of the attempt that was undone in the next one', async () => {
    const hot = key()
    await db.session().save(Object.assign(new Person(), { id: hot, name: 'hot' }))
    const made = stock(key(), line('lamp'))
    let attempts = 0
    await db.transaction(async (session) => {
      const person = await session.load(Person, hot)
      session.persist(made)
      made.lines.add(line(`fee-${person.name}`))
      person.age = ++attempts
      if (attempts > 1) return
      await db.withSession(async (other) => {
        ;(await other.load(Person, hot)).name = 'cold'
      })
    })
    expect(attempts).to.equal(2)
    expect(await stored(made.id)).to.deep.equal(['fee-cold', 'lamp'])
    expect(made.lines.items).to.deep.equal([line('fee-cold'), line('lamp')])
  })

  it('is stored by the next attempt with whatever points to it', async () => {
    const [id, made] = [bed.fresh(), listing(key())]
    await db.session().save(agent(id))
    const add = async (session: Session): Promise<void> => (await session.load(Agent, id)).listings.add(made)
    await undone(add)
    await db.transaction(add)
    expect((await db.session().load(Listing, made.id)).agent.key).to.equal(id)
  })

  it('shows and stores afterwards what it had before', async () => {
    const made = stock(key(), line('lamp'))
    await undone((session) => {
      session.persist(made).lines.add(line('undone'))
      return Promise.resolve()
    })
    expect(made.lines.items).to.deep.equal([line('lamp')])
    expect(await made.lines.count()).to.equal(1)
    made.lines.add(line('later'))
    await db.session().save(made)
    expect(await stored(made.id)).to.deep.equal(['lamp', 'later'])
  })

  it('keeps the children that it was loaded with', async () => {
    const id = bed.fresh()
    await db.session().save(order(id, line('a'), line('b')))
    const session = db.session()
    const found = await session.load(Order, id)
    session.detach(found)
    await db.session().delete(Order, id)
    await undone((inside) => {
      inside.persist(found).lines.remove('a')
      found.lines.add(line('c'))
      return Promise.resolve()
    })
    expect(found.lines.items).to.deep.equal([line('a'), line('b')])
    await db.session().save(found)
    expect((await db.session().load(Order, id)).lines.items).to.deep.equal([line('a'), line('b')])
  })

  it('shows the members of its lists as before', async () => {
    const made = agent(bed.fresh())
    made.listings.add(listing(key()))
    await undone((session) => {
      session.persist(made).listings.add(listing(key()))
      return Promise.resolve()
    })
    expect(made.listings.items).to.have.length(1)
    await db.session().save(made)
    expect(await (await db.session().load(Agent, made.id)).listings.count()).to.equal(1)
  })
})
