import {
  Bin,
  Copy,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToOne,
  Record,
  UpdatedAt,
  Version,
  ref,
  type Ref,
} from 'skein'

@Embeddable()
export class Money {
  @Bin({ type: 'double' }) amount = 0
}

@Record({ set: 'ar_shop' })
export class Shop {
  @Key() id!: string
  @Bin() name?: string
}

export interface Order {
  id: number
  text?: string
  rate?: number
  tags?: string[]
  counts: Map<number, bigint>
  price?: Money
  paidAt?: Date
  shop: Ref<Shop>
  shopName?: string
  updatedAt?: Date
  version?: number
}

/** A class whose archive is that namespace. */
export function orderIn(archive: string): new () => Order {
  @Record({ set: 'ar_order', name: 'Order', archive })
  class ArchivedOrder implements Order {
    @Key() id!: number
    @Bin() text?: string
    @Bin({ type: 'double' }) rate?: number
    @Bin({ type: { list: 'string', order: 'sorted', unique: true } }) tags?: string[]
    @Bin({ type: { map: 'bigint', key: 'int' } }) counts = new Map<number, bigint>()
    @Embedded(() => Money) price?: Money
    @Bin() paidAt?: Date
    @Index() @ManyToOne(() => Shop) shop = ref<Shop>()
    @Copy((order: ArchivedOrder) => order.shop, 'name') shopName?: string
    @UpdatedAt() updatedAt?: Date
    @Version() version?: number
  }
  return ArchivedOrder
}
