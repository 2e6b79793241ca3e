import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
} from 'skein'
import { expectProblem } from './problems-of.js'

describe('the count of a collection is refused', () => {
  it('where there is no such collection', () => {
    @Record({ set: 'user' })
    class User {
      @Key() id!: string
      @CountOf('followrs' as 'followers') count = 0
      @ManyToMany(() => User) followers = collection<User>()
    }
    expectProblem([User], 'SKEIN_1056', 'User.count', /no collection 'followrs'/, /Did you mean 'followers'/)
  })

  it('where the members are not in the record', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: string
      @CountOf('listings') count = 0
      @OneToMany(() => Listing, 'agent', { strategy: 'secondaryIndex' }) listings = collection<Listing>()
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
    }
    expectProblem([Agent, Listing], 'SKEIN_1056', 'Agent.count', /not in the record/, /listings\.count\(\)/)
  })

  it('in a part', () => {
    @Embeddable()
    class Line {
      @Key() id!: string
      @Bin() text!: string
      @(CountOf('text') as PropertyDecorator) count = 0
    }
    @Record({ set: 'order' })
    class Order {
      @Key() id!: string
      @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
    }
    expectProblem([Order], 'SKEIN_1026', 'Line.count', /for records/, /Leave it out/)
  })

  it('in shards, where the record itself holds the members', () => {
    @Record({ set: 'user' })
    class User {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @CountOf('followers') count = 0
      @ManyToMany(() => User) followers = collection<User>()
    }
    expectProblem([User], 'SKEIN_1056', 'User.count', /are in the record/, /Leave out @Sharded here/)
  })

  it('in shards by the day, with an index, or of a record that expires', () => {
    const problem = (count: PropertyDecorator, message: RegExp, fix: RegExp, ttl?: number): void => {
      @Record({ set: 'user', ...(ttl === undefined ? {} : { ttl }) })
      class User {
        @Key() id!: string
        @count @CountOf('followers') count = 0
        @Sharded({ by: 'hash', shards: 4 }) @ManyToMany(() => User) followers = collection<User>()
      }
      expectProblem([User], 'SKEIN_1051', 'User.count', message, fix)
    }
    const sharded = (options: object): PropertyDecorator => Sharded(options as never) as PropertyDecorator
    problem(sharded({ by: 'day' }), /no dates to be sharded by day/, /by: 'hash'/)
    const hash = sharded({ by: 'hash', shards: 2 })
    problem(
      (proto, name) => {
        hash(proto, name)
        ;(Index() as PropertyDecorator)(proto, name)
      },
      /index would not see/,
      /Leave out @Index/,
    )
    problem(hash, /sharded count cannot expire/, /a count of a record that expires/, 60)
  })
})
