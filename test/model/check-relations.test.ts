import {
  Bin,
  Companion,
  Counter,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Sharded,
} from 'skein'
import { collection, ref } from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

@Record({ set: 'listing' })
class Lonely {
  @Key() id!: string
  @Bin() city!: string
}

@Embeddable()
class Item {
  @Key() id!: string
  @Bin() at!: Date
  @Bin({ type: 'json' }) data!: object
}

// Type errors in here are the point: JavaScript users have no compiler to stop them.
const any = (value: unknown): never => value as never

describe('a relation is refused', () => {
  it('when its class is undefined', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @ManyToOne(() => any(undefined)) b = ref<never>()
      @Embedded(() => any(undefined)) c?: never
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1040 b',
      'SKEIN_1040 c',
    ])
    expect(problems[0].fix).to.include('() => Class')
  })

  it('when its class is used before it exists', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @ManyToOne(() => Later) later = ref<object>()
    }
    expectProblem([A], 'SKEIN_1040', 'A.later', /undefined/, /after all modules are loaded/)
    class Later {}
  })

  it('when its class is not among the entities', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @ManyToOne(() => Lonely) listing = ref<Lonely>()
    }
    expectProblem([A], 'SKEIN_1040', 'A.listing', /Lonely is not among the entities/, /entities: \[…, Lonely\]/)
  })

  it('when its class is a part or not mapped', () => {
    class Plain {}
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @ManyToOne(() => Item) item = ref<Item>()
      @OneToMany(() => Plain) plain = collection<Plain>()
      @OneToMany(() => Plain, { strategy: 'consolidate' }) parts = collection<Plain>()
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1041 item',
      'SKEIN_1041 plain',
      'SKEIN_1041 parts',
    ])
    expect(problems[0].fix).to.include("strategy: 'consolidate'")
  })

  it('when its other side does not exist', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @OneToMany(() => Listing, any('agnet')) listings = collection<Listing>()
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent) agent = ref<Agent>()
    }
    expectProblem(
      [Agent, Listing],
      'SKEIN_1042',
      'Agent.listings',
      /Listing\.agnet does not exist/,
      /Did you mean 'agent'\? Declare there: @ManyToOne\(\(\) => Agent, 'listings'\)/,
    )
  })

  it('when its strategy needs another side and none is named', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @OneToMany(() => Lonely, any({ strategy: 'secondaryIndex' })) listings = collection<Lonely>()
    }
    expectProblem([Agent, Lonely], 'SKEIN_1042', 'Agent.listings', /property of Lonely that holds the key/, /Name it/)
  })

  it('when its other side is of the wrong kind', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @OneToMany(() => Listing, any('city')) byCity = collection<Listing>()
      @OneToMany(() => Listing, 'only') listings = collection<Listing>()
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @Bin() city!: string
      @OneToOne(() => Agent) only = ref<Agent>()
    }
    const problems = problemsOf(Agent, Listing)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1043 byCity',
      'SKEIN_1043 listings',
    ])
    expect(problems[1].message).to.equal(
      'Its other side Listing.only is @OneToOne; the other side of @OneToMany is @ManyToOne.',
    )
  })

  it('when consolidated children are given another side', () => {
    @Record({ set: 'order' })
    class Order {
      @Key() id!: number
      @OneToMany(() => Item, any('at'), any({ strategy: 'consolidate' })) items = collection<Item>()
    }
    expectProblem([Order], 'SKEIN_1043', 'Order.items', /have no other side/, /Leave out 'at'/)
  })

  it('when its other side belongs to another relation', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
      @OneToMany(() => Listing, 'agent') others = collection<Listing>()
      @OneToMany(() => Listing, 'seller') sold = collection<Listing>()
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
      @ManyToOne(() => Agent) seller = ref<Agent>()
    }
    const problems = problemsOf(Agent, Listing)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1044 others',
      'SKEIN_1044 sold',
    ])
    expect(problems[0].message).to.include('is a relation to Agent.listings, not to Agent.others')
    expect(problems[1].message).to.include('is a relation to Agent, one-sided, not to Agent.sold')
  })

  it('when its other side is a relation to another class', () => {
    @Record({ set: 'agent' })
    class Agent {
      @Key() id!: number
      @OneToMany(() => Listing, any('owner')) listings = collection<Listing>()
    }
    @Record({ set: 'person' })
    class Person {
      @Key() id!: number
      @OneToMany(() => Listing, 'owner') listings = collection<Listing>()
    }
    @Record({ set: 'listing' })
    class Listing {
      @Key() id!: string
      @ManyToOne(() => Person, 'listings') owner = ref<Person>()
    }
    expectProblem([Agent, Person, Listing], 'SKEIN_1044', 'Agent.listings', /to Person\.listings/, /@ManyToOne/)
  })

  it('when it does not have exactly one owner', () => {
    @Record({ set: 'customer' })
    class Customer {
      @Key() id!: number
      @ManyToMany(() => Account, 'customers') accounts = collection<Account>()
      @ManyToMany(() => Account, 'readers', { owner: true }) readable = collection<Account>()
      @OneToOne(() => Account, { owner: false }) main = ref<Account>()
    }
    @Record({ set: 'account' })
    class Account {
      @Key() id!: number
      @ManyToMany(() => Customer, 'accounts') customers = collection<Customer>()
      @ManyToMany(() => Customer, 'readable', { owner: true }) readers = collection<Customer>()
    }
    const problems = problemsOf(Customer, Account)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1045 customers',
      'SKEIN_1045 readers',
      'SKEIN_1045 main',
    ])
    expect(problems.find(({ property }) => property === 'customers')?.message).to.equal(
      'Neither it nor Customer.accounts says owner: true.',
    )
    expect(problems.find(({ property }) => property === 'readers')?.message).to.equal(
      'Both it and Customer.readable say owner: true.',
    )
  })

  it('when a consolidated child is also a record, or has no key', () => {
    @Embeddable()
    class NoKey {
      @Bin() name!: string
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToMany(() => Lonely, { strategy: 'consolidate' }) records = collection<Lonely>()
      @OneToMany(() => NoKey, { strategy: 'consolidate' }) noKeys = collection<NoKey>()
    }
    const problems = problemsOf(A, Lonely)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1046 records',
      'SKEIN_1047 noKeys',
    ])
    expect(problems[0].fix).to.include("Make Lonely an @Embeddable, or use strategy: 'keyList'")
  })

  it('when it has options that its strategy does not know', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToMany(() => Lonely, any({ strategy: 'keyList', cap: { keep: 5, by: 'last' } })) a = collection<Lonely>()
      @OneToMany(() => Item, any({ strategy: 'consolidate', onDelete: 'cascade' })) b = collection<Item>()
      @ManyToOne(() => Lonely, any({ onDelete: 'cascade' })) c = ref<Lonely>()
    }
    const problems = problemsOf(A, Lonely)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1048 a',
      'SKEIN_1048 b',
      'SKEIN_1048 c',
    ])
    expect(problems[0].message).to.equal("The strategy 'keyList' does not know the option 'cap'.")
    expect(problems[2].message).to.equal("@ManyToOne does not know the option 'onDelete'.")
  })

  it('when an option has a value that cannot work', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToMany(() => Lonely, any({ onDelete: 'cascada' })) a = collection<Lonely>()
      @OneToMany(() => Item, { strategy: 'consolidate', sortKey: ['data'] }) b = collection<Item>()
      @OneToMany(() => Item, { strategy: 'consolidate', sortKey: any([]) }) c = collection<Item>()
      @OneToMany(() => Item, { strategy: 'consolidate', cap: { keep: 0, by: 'last' } }) d = collection<Item>()
      @OneToMany(() => Item, any({ strategy: 'consolidate', inverseIndex: { author: {} } })) e = collection<Item>()
      @OneToMany(() => Item, { strategy: 'consolidate', orders: any({ x: ['data'] }) }) h = collection<Item>()
      @OneToMany(() => Item, { strategy: 'consolidate', orders: any({ y: [] }) }) i = collection<Item>()
      @Embedded(() => Item, { as: 'list' as 'one' }) f?: Item
      @Embedded(() => Item, { as: 'array', layout: 'bins' }) g!: Item[]
    }
    const problems = problemsOf(A, Lonely)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal(
      ['a', 'b', 'c', 'd', 'e', 'h', 'i', 'f', 'g'].map((property) => `SKEIN_1049 ${property}`),
    )
    expect(problems[0].fix).to.include("Did you mean 'cascade'?")
    expect(problems[1].message).to.include("'data'")
  })

  it('when a capped collection has an inverse index', () => {
    @Embeddable()
    class Comment {
      @Key() id!: string
      @ManyToOne(() => Lonely) about = ref<Lonely>()
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToMany(() => Comment, {
        strategy: 'consolidate',
        cap: { keep: 5, by: 'last' },
        inverseIndex: { about: { name: 'x' } },
      })
      comments = collection<Comment>()
    }
    expectProblem([A, Lonely], 'SKEIN_1049', 'A.comments', /drops children/, /Leave out cap or inverseIndex/)
  })

  it('when its strategy is not known', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToMany(() => Lonely, any({ strategy: 'keylist' })) children = collection<Lonely>()
    }
    expectProblem([A, Lonely], 'SKEIN_1050', 'A.children', /no strategy 'keylist'/, /Did you mean 'keyList'\?/)
  })

  it('when it cannot be sharded', () => {
    @Record({ set: 'child' })
    class Child {
      @Key() id!: number
      @ManyToOne(() => Parent, 'children') parent = ref<Parent>()
    }
    @Record({ set: 'parent' })
    class Parent {
      @Key() id!: number
      @Sharded({ by: 'hash', shards: 8 })
      @OneToMany(() => Child, 'parent', { strategy: 'secondaryIndex' })
      children = collection<Child>()
      @Sharded({ by: 'day', on: 'data' })
      @OneToMany(() => Item, { strategy: 'consolidate' })
      items = collection<Item>()
    }
    const problems = problemsOf(Parent, Child)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1051 children',
      'SKEIN_1051 items',
    ])
  })

  it('when @Sharded has no options', () => {
    const Bare = Sharded as unknown as () => PropertyDecorator
    @Record({ set: 'other' })
    class Other {
      @Key() id!: number
    }
    @Record({ set: 'owner' })
    class Owner {
      @Key() id!: number
      @Bare() @ManyToMany(() => Other) others = collection<Other>()
      @Bare() @Counter() views = 0
    }
    const problems = problemsOf(Owner, Other)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1051 others',
      'SKEIN_1051 views',
    ])
    expect(problems[0].message).to.match(/needs the option by/)
  })

  it('when its companion records cannot be told apart from others', () => {
    @Record({ set: 'other' })
    class Other {
      @Key() id!: number
    }
    @Record({ set: 'owner' })
    class Owner {
      @Key() id!: number
      @Companion() @ManyToMany(() => Other) a = collection<Other>()
      @Sharded({ by: 'hash', shards: 2 }) @ManyToMany(() => Other) b = collection<Other>()
      @Companion({ set: 'other', subkeys: 'cIn' }) @ManyToMany(() => Other) c = collection<Other>()
      @Companion({ subkeys: 'id' }) @ManyToMany(() => Other) d = collection<Other>()
      @Companion({ subkeys: 'fIn' }) @Sharded({ by: 'hash', shards: 2, subkeys: 'f2' }) @ManyToMany(() => Other) f =
        collection<Other>()
      @Companion({ set: 'x:y', subkeys: 'gIn' }) @ManyToMany(() => Other) g = collection<Other>()
      @Companion({ shards: 2, subkeys: 'hIn' } as object) @ManyToMany(() => Other) h = collection<Other>()
      @Counter() @Sharded({ by: 'hash', shards: 2, set: 'z' }) i = 0
    }
    const problems = problemsOf(Owner, Other)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1012 b',
      'SKEIN_1051 c',
      'SKEIN_1012 d',
      'SKEIN_1025 f',
      'SKEIN_1032 g',
      'SKEIN_1048 h',
      'SKEIN_1048 i',
    ])
  })

  it('when it does not say how it is sharded on demand', () => {
    @Record({ set: 'other' })
    class Other {
      @Key() id!: number
    }
    const when = (limits: unknown): { readonly by: 'hash'; readonly shards: number } =>
      ({ by: 'hash', shards: 2, when: limits }) as { by: 'hash'; shards: number }
    @Record({ set: 'owner' })
    class Owner {
      @Key() id!: number
      @Sharded({ ...when(7), subkeys: 'aIn' }) @ManyToMany(() => Other) a = collection<Other>()
      @Sharded({ ...when({ bytes: 0 }), subkeys: 'bIn' }) @ManyToMany(() => Other) b = collection<Other>()
      @Sharded({ ...when({ members: 1.5 }), subkeys: 'cIn' }) @ManyToMany(() => Other) c = collection<Other>()
      @Sharded({ ...when({ size: 1 }), subkeys: 'dIn' }) @ManyToMany(() => Other) d = collection<Other>()
      @Counter() @Sharded(when({ bytes: 1 })) e = 0
    }
    const problems = problemsOf(Owner, Other)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1051 a',
      'SKEIN_1051 b',
      'SKEIN_1051 c',
      'SKEIN_1048 d',
      'SKEIN_1048 e',
    ])
  })

  it('when children that are sharded on demand have a cap', () => {
    @Embeddable()
    class Note {
      @Key() id!: number
    }
    @Record({ set: 'owner' })
    class Owner {
      @Key() id!: number
      @Sharded({ by: 'hash', shards: 2, when: {} })
      @OneToMany(() => Note, { strategy: 'consolidate', cap: { keep: 3, by: 'last' } })
      b = collection<Note>()
    }
    const problems = problemsOf(Owner)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal(['SKEIN_1049 b'])
  })

  it('when its two sides are stored differently', () => {
    @Embeddable()
    class Since {
      @Bin() since!: Date
    }
    @Embeddable()
    class Until {
      @Bin() until!: Date
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @OneToOne(() => B, 'a', { owner: true }) b = ref<B>()
      @ManyToMany(() => B, 'as', { owner: true, attributes: () => Since }) bs = collection<B, Since>()
      @ManyToMany(() => B, 'also', { owner: true, attributes: () => Since }) others = collection<B, Since>()
      @OneToOne(() => C, { strategy: 'sharedKey' }) c = ref<C>()
      @OneToOne(() => A, { strategy: 'sharedKey' }) self = ref<A>()
    }
    @Record({ set: 'b' })
    class B {
      @Key() id!: number
      @OneToOne(() => A, 'b', { strategy: 'sharedKey' }) a = ref<A>()
      @ManyToMany(() => A, 'bs') as = collection<A>()
      @ManyToMany(() => A, 'others', { attributes: () => Until }) also = collection<A, Until>()
    }
    @Record({ set: 'c' })
    class C {
      @Key() id!: string
    }
    expect(problemsOf(A, B, C).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1052 b',
      'SKEIN_1052 bs',
      'SKEIN_1052 others',
      'SKEIN_1052 c',
      'SKEIN_1052 self',
    ])
  })

  it('when a class cannot be embedded', () => {
    class Plain {
      x = 1
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Embedded(() => Lonely) record?: Lonely
      @Embedded(() => Plain) plain?: Plain
      @ManyToMany(() => Lonely, { attributes: () => Plain }) links = collection<Lonely, Plain>()
    }
    const problems = problemsOf(A, Lonely)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1053 record',
      'SKEIN_1053 plain',
      'SKEIN_1053 links',
    ])
    expect(problems[0].fix).to.include('@OneToOne')
    expect(problems[1].fix).to.include('Decorate Plain with @Embeddable()')
  })

  it('when links with attributes would be stored by keys that are bytes', () => {
    @Embeddable()
    class Since {
      @Bin() year!: number
    }
    @Record({ set: 'hashed' })
    class Hashed {
      @Key({ type: 'bytes' }) id!: Uint8Array
      @ManyToMany(() => Numbered, 'hashed', { attributes: () => Since }) numbered = collection<Numbered, Since>()
    }
    @Record({ set: 'numbered' })
    class Numbered {
      @Key() id!: number
      @ManyToMany(() => Hashed, 'numbered', { owner: true, attributes: () => Since }) hashed = collection<
        Hashed,
        Since
      >()
    }
    const problems = problemsOf(Hashed, Numbered)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal(['SKEIN_1049 hashed'])
    expect(problems[0].message).to.include('the key of Hashed, which is bytes')
  })

  it('when a part has relations other than references, or bins that would hold them', () => {
    @Embeddable()
    class Comment {
      @Bin() text!: string
      @OneToMany(() => Lonely) many = collection<Lonely>()
    }
    @Embeddable()
    class Pointer {
      @ManyToOne(() => Lonely) to = ref<Lonely>()
    }
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Embedded(() => Comment) comment?: Comment
      @Embedded(() => Pointer, { layout: 'bins' }) pointer?: Pointer
    }
    expect(problemsOf(A, Lonely).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1026 many',
      'SKEIN_1049 pointer',
    ])
  })
})
