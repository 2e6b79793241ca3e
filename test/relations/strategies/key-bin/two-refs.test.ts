import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { emptySets } from '../../../empty-sets.js'
import { sharedServer } from '../../../shared-server.js'

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Ticket, 'author') written = collection<Ticket>()
  @OneToMany(() => Ticket, 'assignee') assigned = collection<Ticket>()
}

@Record({ set: 'ticket' })
class Ticket {
  @Key() id!: number
  @ManyToOne(() => Person, 'written') author = ref<Person>()
  @ManyToOne(() => Person, 'assigned') assignee = ref<Person>()
}

describe('an entity with two refs', () => {
  let db: Database
  before(async () => {
    const server = await sharedServer()
    db = await server.open({ namespace: server.namespaces[0], entities: [Person, Ticket] })
    await emptySets(db, [Person, Ticket])
  })
  after(() => db?.close())

  it('changes both in one write', async () => {
    const session = db.session()
    const [ann] = [1, 2].map((id) => session.create(Person, { id, name: `person ${id}` }))
    const ticket = session.create(Ticket, { id: 1 })
    ticket.author.set(ann)
    ticket.assignee.set(ann)
    await session.flush()

    const other = db.session()
    const moved = await other.load(Ticket, 1)
    moved.author.set(2)
    moved.assignee.set(2)
    await other.flush()

    const [first, second] = await db.session().loadMany(Person, [1, 2], { with: ['written', 'assigned'] })
    expect([first.written.items.length, first.assigned.items.length]).to.deep.equal([0, 0])
    expect([second.written.items.length, second.assigned.items.length]).to.deep.equal([1, 1])
  })
})
