import {
  AfterDelete,
  BeforeDelete,
  Bin,
  Counter,
  DeletedAt,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Version,
  collection,
  ref,
} from 'skein'

@Record({ set: 'sd_note' })
export class Note {
  @Key() id!: string
  @Bin() text!: string
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @Counter() views = 0
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'sd_order' })
export class Order {
  @Key() id!: number
  @Index() @Bin() state: string = 'open'
  @Version() version?: number
  @DeletedAt({ name: 'gone' }) deletedAt?: Date
  @OneToMany(() => Line, 'order', { strategy: 'keyList', onDelete: 'cascade', orphans: 'delete' })
  lines = collection<Line>()
  @OneToMany(() => Event, 'order', { strategy: 'secondaryIndex', onDelete: 'cascade' }) events = collection<Event>()
  @OneToMany(() => Hold, 'order', { strategy: 'keyList', onDelete: 'restrict' }) holds = collection<Hold>()
  @ManyToOne(() => Client, 'orders') client = ref<Client>()
  @ManyToMany(() => Tag, 'orders', { owner: true }) tags = collection<Tag>()
  @OneToOne(() => Bill, 'order', { strategy: 'sharedKey', onDelete: 'cascade', owner: true }) bill = ref<Bill>()
  calls: string[] = []
  @BeforeDelete() before(): void {
    this.calls.push('before')
  }
  @AfterDelete() after(): void {
    this.calls.push('after')
  }
}

@Record({ set: 'sd_bill' })
export class Bill {
  @Key() id!: number
  @Bin() cents!: number
  @DeletedAt() deletedAt?: Date
  @OneToOne(() => Order, 'bill', { strategy: 'sharedKey' }) order = ref<Order>()
}

@Record({ set: 'sd_line' })
export class Line {
  @Key() id!: string
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Order, 'lines') order = ref<Order>()
}

@Record({ set: 'sd_event' })
export class Event {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
  @Index() @ManyToOne(() => Order, 'events') order = ref<Order>()
}

@Record({ set: 'sd_hold' })
export class Hold {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Order, 'holds') order = ref<Order>()
}

@Record({ set: 'sd_client' })
export class Client {
  @Key() id!: string
  @OneToMany(() => Order, 'client', { strategy: 'keyList' }) orders = collection<Order>()
}

@Record({ set: 'sd_tag' })
export class Tag {
  @Key() id!: string
  @ManyToMany(() => Order, 'tags') orders = collection<Order>()
}

/** Its own deletes are for good, those of its crates are not. */
@Record({ set: 'sd_depot' })
export class Depot {
  @Key() id!: number
  @OneToMany(() => Crate, 'depot', { strategy: 'secondaryIndex', onDelete: 'cascade' }) crates = collection<Crate>()
}

@Record({ set: 'sd_crate' })
export class Crate {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Depot, 'crates') depot = ref<Depot>()
}

@Record({ set: 'sd_asset', discriminator: 'kind', discriminatorValue: 'asset', tenant: true })
export class Asset {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
}

@Record({ discriminatorValue: 'image' })
export class Image extends Asset {
  @Bin() width!: number
}

export const ALL = [Note, Order, Bill, Line, Event, Hold, Client, Tag, Depot, Crate, Asset, Image]

export const note = (id: string, text = id): Note => Object.assign(new Note(), { id, text })
export const make = <T extends object>(made: T, id: unknown): T => Object.assign(made, { id })
