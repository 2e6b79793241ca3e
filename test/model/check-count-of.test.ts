import {
  Bin,
  collection,
  CountOf,
  Embeddable,
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

  it('in a part, and in shards', () => {
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
    @Record({ set: 'user' })
    class User {
      @Key() id!: string
      @Sharded({ by: 'hash', shards: 4 }) @CountOf('followers') count = 0
      @ManyToMany(() => User) followers = collection<User>()
    }
    expectProblem([User], 'SKEIN_1026', 'User.count', /only collections and counters/, /Leave it out/)
  })
})
