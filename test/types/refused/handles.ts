import { Bin, Counter, Embeddable, Embedded, Key, Record, type Session } from 'skein'

@Embeddable()
class Place {
  @Bin() city?: string
  @Bin() visits?: number
}

@Record({ set: 'user' })
class User {
  @Key() name!: string
  @Bin({ type: { list: 'string' } }) log: string[] = []
  @Bin({ type: { list: 'int' } }) marks: (number | null)[] = []
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Bin({ type: { map: 'string' } }) names = new Map<string, string>()
  @Bin({ type: 'json' }) settings?: unknown
  @Embedded(() => Place) home?: Place
  @Embedded(() => Place, { as: 'map' }) places = new Map<string, Place>()
  @Embedded(() => Place, { as: 'array' }) visited: Place[] = []
  @Counter() logins = 0
}

export function handles(session: Session): void {
  const user = session.at(User, 'alice')

  user.map('home').increment('visits')
  user.map('places').at('bern').increment('visits', 2n)
  user.map('scores').increment('chess')
  user.map('settings').increment('anything')
  user.list('marks').increment(0)
  user.list('visited').where({ city: 'Bern' }).increment('visits')

  // expect: Argument of type '"city"' is not assignable to parameter of type '"visits"'
  user.map('home').increment('city')

  // expect: Argument of type '"city"' is not assignable to parameter of type '"visits"'
  user.map('places').at('bern').increment('city')

  // expect: Argument of type '"chess"' is not assignable to parameter of type 'never'
  user.map('names').increment('chess')

  // expect: Argument of type '0' is not assignable to parameter of type 'never'
  user.list('log').increment(0)

  // expect: Argument of type '"city"' is not assignable to parameter of type '"visits"'
  user.list('visited').where({ city: 'Bern' }).increment('city')

  // expect: Argument of type '"a"' is not assignable to parameter of type 'never'
  void user.list('log').startingWith('a')

  // expect: Argument of type '"log"' is not assignable to parameter of type
  user.counter('log')

  // expect: Argument of type '"scores"' is not assignable to parameter of type
  user.list('scores')

  // expect: Argument of type '"log"' is not assignable to parameter of type
  user.map('log')

  // expect: Argument of type 'number' is not assignable to parameter of type 'string'
  user.list('log').append(1)

  // expect: Argument of type 'string' is not assignable to parameter of type 'number'
  user.map('scores').put('chess', 'x')
}

@Record({ set: 'sums' })
export class Sums {
  @Key() id!: string
  @Counter() plain = 0
  @Counter({ type: 'bigint' }) big = 0n
  @Counter() declared: bigint = 0n

  // expect: is a number or a bigint
  @Counter({ type: 'bigint' })
  small = 0

  // expect: is a number or a bigint
  @Counter()
  text = 'x'
}
