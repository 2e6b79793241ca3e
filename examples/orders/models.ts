import 'reflect-metadata'
import { Bin, Embeddable, Key, OneToMany, Record, collection } from 'skein'

/** A line of an order: stored inside the order's record, under its product. */
@Embeddable()
export class LineItem {
  @Key() product!: string
  @Bin() quantity!: number
  @Bin() cents!: number
}

@Record({ set: 'order' })
export class Order {
  @Key() id!: number
  @Bin() customer!: string
  @OneToMany(() => LineItem, { strategy: 'consolidate' }) lines = collection<LineItem>()
}

export const lineItem = (product: string, quantity: number, cents: number): LineItem =>
  Object.assign(new LineItem(), { product, quantity, cents })
