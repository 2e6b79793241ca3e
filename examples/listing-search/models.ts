import { Bin, Index, Key, Record } from 'skein'

@Record({ set: 'search_listing' })
export class SearchListing {
  @Key() id!: number
  @Index() @Bin() city!: string
  @Index() @Bin({ type: 'int' }) price!: number
  @Bin({ type: 'int' }) rooms!: number
  @Bin({ type: { list: 'string' } }) tags: string[] = []
}

@Record({ set: 'search_customer' })
export class Customer {
  @Key() id!: number
  @Index() @Bin() email!: string
  @Bin() name!: string
}

/** The orders of each tenant have keys of their own. */
@Record({ set: 'search_order', tenant: true })
export class TenantOrder {
  @Key() id!: number
  @Bin() item!: string
  @Bin({ type: 'int' }) amount!: number
}

@Record({ set: 'search_draft' })
export class Draft {
  @Key() id!: number
  @Bin() text!: string
  @Index() @Bin() touchedAt!: Date
}
