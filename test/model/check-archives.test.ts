import {
  Bin,
  Counter,
  Embeddable,
  Key,
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
    @Embeddable()
    class Line {
      @Key() id!: number
    }
    @Record({ set: 'customer' })
    class Customer {
      @Key() id!: number
      @OneToMany(() => Order, 'customer') orders = collection<Order>()
    }
    @Record({ set: 'order', archive: 'cold' })
    class Order {
      @Key() id!: number
      @Bin() text?: string
      @ManyToOne(() => Customer, 'orders') customer = ref<Customer>()
      @ManyToOne(() => Customer) payer = ref<Customer>()
      @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
      @Sharded({ by: 'hash', shards: 2, when: { members: 9 } })
      @OneToMany(() => Line, { strategy: 'consolidate' })
      lines = collection<Line>()
    }
    expect(refused(Customer, Order)).to.deep.equal([
      'SKEIN_1063 Order.customer',
      'SKEIN_1063 Order.lines',
      'SKEIN_1063 Customer.orders',
    ])
  })
})
