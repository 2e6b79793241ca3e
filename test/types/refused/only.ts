import { Bin, Embeddable, Embedded, Key, Record, type Database } from 'skein'

@Embeddable()
class Address {
  @Bin() city?: string
}

@Record()
export class User {
  @Key() id!: string
  @Bin() name!: string
  @Bin({ type: { map: 'int' } }) scores!: Map<string, number>
  @Bin({ type: { list: 'int' } }) items!: number[]
  @Embedded(() => Address) home?: Address
}

export function parts(db: Database): void {
  const session = db.session()
  void session.load(User, 'a', { only: ['name', { scores: ['x'] }, { items: { last: 3 }, home: ['city'] }] })
  // expect: Type 'number' is not assignable to type 'string'
  void session.load(User, 'a', { only: [{ scores: [5] }] })
  // expect: '"street"' is not assignable to type '"city"'
  void session.load(User, 'a', { only: [{ home: ['street'] }] })
  // expect: 'newest' does not exist in type
  void session.load(User, 'a', { only: [{ items: { newest: 3 } }] })
  // expect: 'name' does not exist in type
  void session.load(User, 'a', { only: [{ name: ['x'] }] })
}
