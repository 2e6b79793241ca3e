import {
  Bin,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  collection,
  inc,
  ref,
} from 'skein'
import type { Database, FilterFields, Session } from 'skein'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
}

@Embeddable()
class Address {
  @Bin() street!: string
  @Bin({ type: 'int' }) zip?: number
}

@Record({ set: 'listing' })
class Listing {
  @Key() id!: string
  @Index() @Bin() city!: string
  @Bin() price!: number
  @Bin() isNew?: boolean
  @Bin() at?: Date
  @Bin({ type: 'bigint' }) views?: bigint
  @Bin() seal?: Uint8Array
  @Bin({ type: { enum: ['open', 'sold'] } }) state!: 'open' | 'sold'
  @Bin({ type: { set: 'int' } }) rooms = new Set<number>()
  @Embedded(() => Address) address?: Address
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @Version() readonly version?: number
  hello(): string {
    return this.city
  }
}

export function ask(db: Database, session: Session): void {
  const query = db.query(Listing)
  // expect: 'citty' does not exist in type 'Where<Listing>'
  query.where({ citty: 'Bern' })
  // expect: 'hello' does not exist in type 'Where<Listing>'
  query.where({ hello: null })
  // expect: 'listings' does not exist in type 'Where<Agent>'
  db.query(Agent).where({ listings: 1 })
  // expect: Type 'number' is not assignable to type
  query.where({ city: 5 })
  // expect: Type 'string' is not assignable to type
  query.where({ price: 'x' })
  // expect: 'startsWith' does not exist in type
  query.where({ price: { startsWith: 'x' } })
  // expect: 'gt' does not exist in type
  query.where({ isNew: { gt: true } })
  // expect: Type 'number' is not assignable to type 'Date'
  query.where({ at: { gt: 5 } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ tags: { has: 5 } })
  // expect: 'hasKey' does not exist in type
  query.where({ tags: { hasKey: 'x' } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ scores: { hasKey: 5 } })
  // expect: Source has 1 element(s) but target requires 2.
  query.where({ price: { between: [1] } })
  // expect: Type 'number' is not assignable to type
  query.where({ city: { eq: 5 } })
  // expect: Type 'string' is not assignable to type
  query.where({ price: { ne: 'x' } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ city: { in: [5] } })
  // expect: Type 'number' is not assignable to type 'bigint'
  query.where({ views: { notIn: [5] } })
  // expect: Type 'string' is not assignable to type 'Date'
  query.where({ at: { gte: 'x' } })
  // expect: Type 'number' is not assignable to type 'bigint'
  query.where({ views: { lt: 5 } })
  // expect: Type 'string' is not assignable to type
  query.where({ seal: { lte: 'x' } })
  // expect: Type 'string' is not assignable to type 'number'
  query.where({ price: { between: ['a', 'b'] } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ city: { endsWith: 5 } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ city: { contains: 5 } })
  // expect: Type 'RegExp' is not assignable to type
  query.where({ city: { regex: /x/ } })
  // expect: Type '"lost"' is not assignable to type
  query.where({ state: 'lost' })
  // expect: Type '"lost"' is not assignable to type
  query.where({ state: { in: ['open', 'lost'] } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ tags: { hasAny: [5] } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ tags: { hasAll: [5] } })
  // expect: Type 'string' is not assignable to type
  query.where({ tags: { size: 'x' } })
  // expect: Type 'string' is not assignable to type 'number'
  query.where({ rooms: { has: 'x' } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ scores: { hasAnyKey: [5] } })
  // expect: Type 'number' is not assignable to type 'string'
  query.where({ scores: { hasAllKeys: [5] } })
  // expect: Type 'string' is not assignable to type 'number'
  query.where({ scores: { hasValue: 'x' } })
  // expect: Type 'string' is not assignable to type 'number'
  query.where({ scores: { hasAnyValue: ['x'] } })
  // expect: 'has' does not exist in type
  query.where({ scores: { has: 'x' } })
  // expect: 'gt' does not exist in type
  query.where({ tags: { gt: 'x' } })
  // expect: 'strret' does not exist in type
  query.where({ address: { strret: 'x' } })
  // expect: Type 'string' is not assignable to type
  query.where({ address: { zip: { gt: 'x' } } })
  // expect: is not assignable to type
  query.where({ agent: new Listing() })
  // expect: Argument of type 'number' is not assignable to parameter of type 'string'
  query.filter((l) => l.city.contains(5))
  // expect: Argument of type 'number' is not assignable to parameter of type
  query.filter((l) => l.at.between(1, 2))
  // expect: Argument of type 'string' is not assignable to parameter of type 'number'
  query.filter((l) => l.scores.hasValue('x'))
  // expect: Property 'plus' does not exist on type
  query.filter((l) => l.city.plus(1).gt(2))
  // expect: Argument of type 'number' is not assignable to parameter of type
  query.filter((l) => l.views.plus(1).gt(2n))
  // expect: Type 'boolean' is not assignable to type 'Filter'
  query.filter((l) => l.price > 3)
  // expect: is not assignable to parameter of type
  db.query(Agent).whereHas('listings', new Agent())
  // expect: Argument of type '"agent"' is not assignable to parameter of type
  query.whereHas('agent', 1)
  // expect: Argument of type '"up"' is not assignable to parameter of type
  query.orderBy('price', 'up')
  // expect: Type 'string' is not assignable to type 'number'
  void query.page({ count: 'x' })
  // expect: Property 'update' does not exist on type
  void session.query(Listing).update({ price: 1 })
  // expect: Type 'Increment<number>' is not assignable to type
  void query.update({ views: inc(1) })
  // expect: Argument of type '"agent"' is not assignable to parameter of type
  query.only('agent')
  // expect: Argument of type '"agent"' is not assignable to parameter of type
  query.orderBy('agent')
  // expect: Argument of type '"tags"' is not assignable to parameter of type
  query.orderBy('tags')
  // expect: Argument of type '"scores"' is not assignable to parameter of type
  query.orderBy('scores')
  // expect: Argument of type '"tags"' is not assignable to parameter of type
  void query.min('tags')
  // expect: Argument of type '"agent"' is not assignable to parameter of type
  void query.max('agent')
  // expect: Argument of type '"city"' is not assignable to parameter of type
  void query.sum('city')
  // expect: Argument of type '"at"' is not assignable to parameter of type
  void query.avg('at')
  // expect: Argument of type '"scores"' is not assignable to parameter of type
  query.groupBy('scores')
  // expect: Argument of type '"hello"' is not assignable to parameter of type
  query.groupBy('hello')
  // expect: Argument of type '"city"' is not assignable to parameter of type
  void query.groupBy('agent').sum('city')
  // expect: Argument of type '"tags"' is not assignable to parameter of type
  void query.groupBy('agent').min('tags')
  // expect: 'version' does not exist in type 'BulkChanges<Listing>'
  void query.update({ version: 3 })
  // expect: Type 'string' is not assignable to type
  query.where({ tags: { ne: 'x' } })
  // expect: Property 'startsWith' does not exist on type 'NumberOperand'.
  query.filter((l) => l.price.startsWith('x'))
  // expect: Argument of type 'string' is not assignable to parameter of type
  query.filter((l) => l.price.plus('x').gt(3))
  // expect: Property 'citty' does not exist on type 'FilterFields<Listing>'.
  query.filter((l) => l.citty.eq('x'))
  // expect: Type 'Increment<number>' is not assignable to type
  void query.update({ city: inc(1) })
  // expect: 'agent' does not exist in type 'BulkChanges<Listing>'
  void query.update({ agent: null })
  // expect: Argument of type '"agnt"' is not assignable to parameter of type
  session.query(Listing).with('agnt')
  // expect: Property 'with' does not exist on type
  query.with('agent')
}

@Record({ set: 'house' })
// expect: Property 'rooms' does not exist on type 'FilterFields<House>'
@Index({ name: 'house_value', of: (house: FilterFields<House>) => house.price.times(house.rooms) })
export class House {
  @Key() id!: number
  @Bin({ type: 'int' }) price!: number
}
