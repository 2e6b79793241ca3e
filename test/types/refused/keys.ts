import { Bin, KEY, Key, ManyToMany, Embeddable, Record, collection, keysOf, type Database, type Session } from 'skein'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Bin({ type: { list: 'string' } }) nicks: (string | null)[] = []
}

@Record({ set: 'order', key: '{tenant}:{orderId}' })
class Order {
  declare readonly [KEY]: 'tenant' | 'orderId'
  @Bin() tenant!: string
  @Bin() orderId!: number
}

@Record({ set: 'book' })
class Book {
  declare readonly [KEY]: 'isbn'
  @Key() isbn!: string
  @Bin() id!: number
}

@Embeddable()
class Since {
  @Bin() since!: Date
}

@Record({ set: 'member' })
class Member {
  @Key() id!: number
  // expect: Declare it with the class of the attributes, too: plain = collection<…, …>()
  @ManyToMany(() => Member, { attributes: () => Since }) plain = collection<Member>()
  @ManyToMany(() => Member, { attributes: () => Since }) knows = collection<Member, Since>()
}

@Record({ set: 'day', key: '{sensor}:{day|YYYY-MM-DD}' })
class Day {
  declare readonly [KEY]: 'sensor' | 'day'
  @Bin() sensor!: number
  @Bin() day!: Date
  @Bin() note!: string
}

declare const member: Member
member.knows.link(2, { since: new Date() })
// expect: 'sinse' does not exist in type 'Since'
member.knows.link(2, { sinse: new Date() })

const range = { from: new Date('2024-05-01'), to: new Date('2024-05-08') }

declare const session: Session
declare const db: Database

export const calls = [
  session.load(Agent, 17),
  // expect: Argument of type 'string' is not assignable to parameter of type
  session.load(Agent, 'seventeen'),
  // expect: 'nmae' does not exist in type
  session.find(Agent, { nmae: 'Alma' }),
  session.loadMany(Agent, [1, 2]),
  // expect: Type 'string' is not assignable to type
  session.loadMany(Agent, ['one']),
  // expect: No overload matches this call
  session.delete(Agent, 'seventeen'),
  // expect: Argument of type 'string' is not assignable to parameter of type
  session.at(Agent, 'seventeen'),
  // expect: Type 'string' is not assignable to type
  db.read(Agent, ['one']),
  session.load(Order, { tenant: 'acme', orderId: 7 }),
  session.load(Order, 'acme:7'),
  keysOf(Order).of({ tenant: 'acme', orderId: 7 }),
  // expect: '{ tenant: string; }' is not assignable to parameter of type
  keysOf(Order).of({ tenant: 'acme' }),
  session.load(Book, '978-0'),
  // expect: Argument of type 'number' is not assignable to parameter of type
  session.load(Book, 7),
  session.create(Agent, { id: 1, name: 'Alma' }),
  // expect: 'nmae' does not exist in type
  session.create(Agent, { id: 1, nmae: 'Alma' }),
  db.withSession((inner) => inner.create(Agent, { id: 1 }).id),
  db.transaction((inner) => inner.create(Agent, { id: 1 }).id),
  session.transaction((inner) => inner.create(Agent, { id: 1 }).id),
  session.loadRange(Day, { sensor: 7 }, { ...range, only: ['note'] }),
  // expect: Type 'string' is not assignable to type 'number'
  session.loadRange(Day, { sensor: 'seven' }, range),
  // expect: 'note' does not exist in type
  session.loadRange(Day, { note: 'x' }, range),
  // expect: Type 'string' is not assignable to type 'Date'
  session.loadRange(Day, { sensor: 7 }, { from: '2024-05-01', to: new Date() }),
  // expect: Type '"nope"' is not assignable to type
  db.slices(Day, { sensor: 7 }, { ...range, only: ['nope'] }),
  // expect: 'sensr' does not exist in type
  keysOf(Day).covering({ sensr: 7 }, range),
  db.slices(Day, { sensor: 7 }, range).then((days) => days.map(({ note }) => note)),
]
