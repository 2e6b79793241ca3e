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
  type Collection,
  type EntityClass,
  type Ref,
} from 'skein'

@Embeddable()
export class Watch {
  @Bin() why!: string
  @Bin({ type: 'double' }) weight = 2
}

export interface Order {
  id: number
  text?: string
  customer: Ref<Customer>
  tags: Collection<Tag>
  tagCount?: number
  watchers: Collection<Watcher, Watch>
  like: Collection<Order>
}
export interface Customer {
  id: string
  orders: Collection<Order>
}
export interface Tag {
  id: number
  orders: Collection<Order>
}
export interface Watcher {
  id: number
  orders: Collection<Order, Watch>
}
export interface LinkClasses {
  readonly Order: new () => Order
  readonly Customer: new () => Customer
  readonly Tag: new () => Tag
  readonly Watcher: new () => Watcher
  readonly all: EntityClass[]
}

/** An order whose archive is that namespace, and what it is linked to, which stays. */
export function ordersIn(archive: string): LinkClasses {
  @Record({ set: 'al_order', name: 'Order', archive })
  class AnOrder implements Order {
    @Key() id!: number
    @Bin() text?: string
    @ManyToOne(() => ACustomer, 'orders') customer = ref<ACustomer>()
    @ManyToMany(() => ATag, 'orders', { owner: true }) tags = collection<ATag>()
    @CountOf('tags') tagCount?: number
    @ManyToMany(() => AWatcher, 'orders', { attributes: () => Watch }) watchers = collection<AWatcher, Watch>()
    @ManyToMany(() => AnOrder, 'like') like = collection<AnOrder>()
  }
  @Record({ set: 'al_customer', name: 'Customer' })
  class ACustomer implements Customer {
    @Key() id!: string
    @OneToMany(() => AnOrder, 'customer') orders = collection<AnOrder>()
  }
  @Record({ set: 'al_tag', name: 'Tag' })
  class ATag implements Tag {
    @Key() id!: number
    @Sharded({ by: 'hash', shards: 2 })
    @ManyToMany(() => AnOrder, 'tags')
    orders = collection<AnOrder>()
  }
  @Record({ set: 'al_watcher', name: 'Watcher' })
  class AWatcher implements Watcher {
    @Key() id!: number
    @ManyToMany(() => AnOrder, 'watchers', { owner: true, attributes: () => Watch }) orders = collection<
      AnOrder,
      Watch
    >()
  }
  return {
    Order: AnOrder,
    Customer: ACustomer,
    Tag: ATag,
    Watcher: AWatcher,
    all: [AnOrder, ACustomer, ATag, AWatcher],
  }
}

export const LINKS = ['tags', 'watchers', 'customer', 'like'] as const

/** Keys that an order names, relation by relation. */
export const linksOf = ({ customer, tags, watchers, like }: Order): unknown[] => [
  customer.key,
  ...[tags, watchers, like].map((each) => idsOf<Tag | Watcher | Order>(each)),
]

export const idsOf = <T extends { id: number }>({ items }: { readonly items: readonly T[] }): number[] =>
  items.map(({ id }) => id)
