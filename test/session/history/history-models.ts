import {
  Bin,
  CreatedAt,
  DeletedAt,
  Embeddable,
  Embedded,
  History,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  collection,
  ref,
} from 'skein'

@Embeddable()
export class Money {
  @Bin({ type: 'double' }) amount = 0
  @Bin() currency?: string
}

@Record({ set: 'hi_client' })
export class Client {
  @Key() id!: string
  @OneToMany(() => Contract, 'client') contracts = collection<Contract>()
}

@History({ keep: 3 })
@Record({ set: 'hi_contract' })
export class Contract {
  @Key() id!: string
  @Bin() terms?: string
  @Bin({ type: 'double' }) rate?: number
  @Bin({ type: { map: 'bigint', key: 'int' } }) shares = new Map<number, bigint>()
  @Bin({ type: { list: 'date' } }) meetings?: Date[]
  @Embedded(() => Money) price?: Money
  @CreatedAt() createdAt?: Date
  @ManyToOne(() => Client, 'contracts') client = ref<Client>()
  @Version() version?: number
}

@History({ set: 'hi_old_notes' })
@Record({ set: 'hi_note', discriminator: 'kind', discriminatorValue: 'note' })
export class Note {
  @Key() id!: number
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
  @Version() version?: number
}

@Record({ discriminatorValue: 'memo' })
export class Memo extends Note {
  @Bin() to?: string
}

/** Links of which it is known what they were. */
@Record({ set: 'hi_person' })
export class Person {
  @Key() id!: string
  @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
  @ManyToMany(() => Person, { through: () => Follow, strategy: 'secondaryIndex' })
  followers = collection<Person, Follow>()
}

@History()
@Record({ set: 'hi_follow', key: '{from}:{to}' })
export class Follow {
  @ManyToOne(() => Person, 'follows') from = ref<Person>()
  @ManyToOne(() => Person, 'followers') to = ref<Person>()
  @ManyToOne(() => Client) through = ref<Client>()
  @Bin() kind?: string
  @Version() version?: number
}

/** States that are kept for as long as a record changes, and a while longer. */
@History({ ttl: 5000 })
@Record({ set: 'hi_price' })
export class Price {
  @Key() id!: string
  @Bin() amount?: number
  @Version() version?: number
}

export const ALL = [Client, Contract, Note, Memo, Person, Follow, Price]

export const contract = (values: Partial<Contract> = {}): Contract =>
  Object.assign(new Contract(), { id: 'c', terms: 'first', ...values })
