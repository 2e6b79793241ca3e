import { Bin, Embeddable, Embedded, Key, Record, type Database } from 'skein'

@Embeddable()
class Address {
  @Bin() city?: string
  @Bin() zip?: number
}

@Record()
export class User {
  @Key() id!: string
  @Bin() name!: string
  @Bin({ type: { map: 'int' } }) scores!: Map<string, number>
  @Bin({ type: { list: 'int' } }) items!: number[]
  @Embedded(() => Address) home?: Address
  @Embedded(() => Address, { as: 'array' }) places!: Address[]
}

export function parts(db: Database): void {
  const session = db.session()
  void session.load(User, 'a', { only: ['name', { scores: ['x'] }, { items: { last: 3 }, home: ['city'] }] })
  // expect: Type 'number' is not assignable to type 'string'
  void session.load(User, 'a', { only: [{ scores: [5] }] })
  // expect: '"street"' is not assignable to type
  void session.load(User, 'a', { only: [{ home: ['street'] }] })
  // expect: 'newest' does not exist in type
  void session.load(User, 'a', { only: [{ items: { newest: 3 } }] })
  // expect: 'name' does not exist in type
  void session.load(User, 'a', { only: [{ name: ['x'] }] })
}

export function items(db: Database): void {
  const places = db.session().at(User, 'a').list('places')
  places.where({ city: 'Bern', zip: { gt: 3000 } }).set({ zip: 1 })
  places.where((place) => place.city.eq('Bern').or(place.zip.lt(3))).remove()
  // expect: 'street' does not exist in type
  places.where({ street: 'x' })
  // expect: Type 'number' is not assignable to type
  places.where({ city: 5 })
  // expect: 'street' does not exist in type
  places.where({}).set({ street: 'x' })
  // expect: Property 'street' does not exist on type
  places.where((place) => place.street.eq('x'))
}
