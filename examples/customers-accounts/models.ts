import 'reflect-metadata'
import { Bin, Embeddable, Key, ManyToMany, Record, collection } from 'skein'

/** Values that belong to the link itself: neither to the customer nor to the account alone. */
@Embeddable()
export class Ownership {
  @Bin() role!: string
  @Bin() since!: Date
}

@Record({ set: 'customer' })
export class Customer {
  @Key() id!: number
  @Bin() name!: string
  @ManyToMany(() => Account, 'owners', { owner: true, attributes: () => Ownership })
  accounts = collection<Account, Ownership>()
}

@Record({ set: 'account' })
export class Account {
  @Key() id!: string
  @Bin() balance!: number
  @ManyToMany(() => Customer, 'accounts', { attributes: () => Ownership })
  owners = collection<Customer, Ownership>()
}
