import 'reflect-metadata'
import { Bin, Embeddable, Key, OneToMany, Record, collection } from 'skein'

@Embeddable()
export class Transaction {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() cents!: number
  @Bin() payee!: string
}

/** The last 50 transactions by their sortable id, and the 50 largest: the server drops what is one too many. */
@Record({ set: 'account' })
export class Account {
  @Key() iban!: string
  @OneToMany(() => Transaction, { strategy: 'consolidate', cap: { keep: 50, by: 'last' } })
  latest = collection<Transaction>()
  @OneToMany(() => Transaction, { strategy: 'consolidate', sortKey: ['cents'], cap: { keep: 50, by: 'last' } })
  largest = collection<Transaction>()
}
