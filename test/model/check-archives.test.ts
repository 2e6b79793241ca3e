import {
  Bin,
  Counter,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type EntityClass,
} from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

const refused = (...classes: EntityClass[]): string[] =>
  problemsOf(...classes).map(({ code, className, property }) => `${code} ${className}.${property ?? ''}`)

describe('a model with an archive is refused', () => {
  it('when the archive is the namespace of the class, or not the name of a namespace', () => {
    @Record({ set: 'order', archive: 'test' })
    class Order {
      @Key() id!: number
    }
    expectProblem([Order], 'SKEIN_1063', 'Order', /'test'/, /another/)
    @Record({ set: 'order', archive: 'a b' })
    class Wrong {
      @Key() id!: number
    }
    expectProblem([Wrong], 'SKEIN_1033', 'Wrong', /'a b'/, /letters/)
  })

  it('when something would be left behind', () => {
    @Record({ set: 'customer' })
    class Customer {
      @Key() id!: number
      @OneToMany(() => Order, 'customer', { onDelete: 'restrict' }) orders = collection<Order>()
    }
    @Record({ set: 'order', archive: 'cold' })
    class Order {
      @Key() id!: number
      @Bin() text?: string
      @ManyToOne(() => Customer, 'orders') customer = ref<Customer>()
      @ManyToOne(() => Customer) payer = ref<Customer>()
      @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
    }
    expect(refused(Customer, Order)).to.deep.equal(['SKEIN_1063 Order.customer', 'SKEIN_1063 Customer.orders'])
  })

  it('when a child would be without its parent, or what stays is deleted with it', () => {
    @Record({ set: 'line' })
    class Line {
      @Key() id!: number
      @ManyToOne(() => Bill, 'lines') bill = ref<Bill>()
      @ManyToMany(() => Bill, 'labels', { onDelete: 'cascade' }) bills = collection<Bill>()
    }
    @Record({ set: 'bill', archive: 'cold' })
    class Bill {
      @Key() id!: number
      @OneToMany(() => Line, 'bill') lines = collection<Line>()
      @ManyToMany(() => Line, 'bills', { owner: true }) labels = collection<Line>()
      @Sharded({ by: 'hash', shards: 2 })
      @ManyToMany(() => Bill, 'like')
      like = collection<Bill>()
    }
    const fixes = problemsOf(Line, Bill).map(({ property, fix }) => `${property}: ${fix}`)
    expect(fixes).to.have.length(6)
    for (const [i, fix] of [/^lines: .*many-to-many/, /^labels: .*'detach'/, /^like: .*@Sharded/].entries())
      expect(fixes[i]).to.match(fix)
    expect(fixes[3]).to.match(/^bill: .*@Bin/)
  })
  it('when it is a link record, or its link records are not listed in its record', () => {
    @Record({ set: 'person', archive: 'cold' })
    class Person {
      @Key() id!: number
      @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
      @ManyToMany(() => Person, { through: () => Follow }) followers = collection<Person, Follow>()
      @ManyToMany(() => Paper, { through: () => Access, strategy: 'secondaryIndex' })
      papers = collection<Paper, Access>()
    }
    @Record({ set: 'follow', key: '{from}:{to}', archive: 'cold' })
    class Follow {
      @ManyToOne(() => Person, 'follows') from = ref<Person>()
      @ManyToOne(() => Person, 'followers') to = ref<Person>()
    }
    @Record({ set: 'paper' })
    class Paper {
      @Key() id!: number
      @ManyToMany(() => Person, { through: () => Access }) people = collection<Person, Access>()
    }
    @Record({ set: 'access', key: '{person}:{paper}' })
    class Access {
      @ManyToOne(() => Person, 'papers') person = ref<Person>()
      @ManyToOne(() => Paper, 'people') paper = ref<Paper>()
    }
    const fixes = problemsOf(Person, Follow, Paper, Access).map(
      ({ className, property, fix }) => `${className}.${property}: ${fix}`,
    )
    for (const [property, fix] of [
      ['Person.follows', /without @DeletedAt and archive/],
      ['Person.papers', /strategy: 'keyList'/],
      ['Follow.from', /Leave out the archive of Follow/],
      ['Access.person', /@Bin/],
    ] as const)
      expect(
        fixes.filter((each) => each.startsWith(`${property}: `) && fix.test(each)),
        property,
      ).to.have.length(1)
  })
})
