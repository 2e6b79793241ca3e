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
  it('when it has link records, or is one', () => {
    @Record({ set: 'person', archive: 'cold' })
    class Person {
      @Key() id!: number
      @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
      @ManyToMany(() => Person, { through: () => Follow }) followers = collection<Person, Follow>()
    }
    @Record({ set: 'follow', key: '{from}:{to}', archive: 'cold' })
    class Follow {
      @ManyToOne(() => Person, 'follows') from = ref<Person>()
      @ManyToOne(() => Person, 'followers') to = ref<Person>()
    }
    const fixes = problemsOf(Person, Follow).map(({ className, property, fix }) => `${className}.${property}: ${fix}`)
    expect(fixes).to.include(
      'Person.follows: Leave out through, or the archive of Person: a link record stays where it is.',
    )
    expect(fixes).to.include('Follow.from: Leave out the archive of Follow: a link record stays with its two ends.')
  })
})
