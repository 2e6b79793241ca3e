import {
  Bin,
  CreatedAt,
  DeletedAt,
  Embeddable,
  Embedded,
  History,
  Key,
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

export const ALL = [Client, Contract, Note, Memo]

export const contract = (values: Partial<Contract> = {}): Contract =>
  Object.assign(new Contract(), { id: 'c', terms: 'first', ...values })
