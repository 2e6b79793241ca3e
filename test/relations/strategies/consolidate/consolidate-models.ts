import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, Version, collection, ref } from 'skein'

@Embeddable()
export class Line {
  @Key() sku!: string
  @Bin() quantity!: number
  @Bin() note?: string
}

@Record({ set: 'order' })
export class Order {
  @Key() id!: number
  @Bin() customer!: string
  @Version() version?: number
  @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
}

/** A post whose children are not loaded until they are asked for. */
@Record({ set: 'stock' })
export class Stock {
  @Key() id!: string
  @Bin() place!: string
  @OneToMany(() => Line, { strategy: 'consolidate', eager: false }) lines = collection<Line>()
}

@Embeddable()
export class Score {
  @Key() player!: string
  @Bin() points!: number
  @Bin() at?: Date
}

@Record({ set: 'board' })
export class Board {
  @Key() id!: string
  @OneToMany(() => Score, { strategy: 'consolidate', sortKey: ['points'], eager: false }) scores = collection<Score>()
}

@Embeddable()
export class Payment {
  @Key() id!: number
  @Bin() cents!: number
}

@Record({ set: 'account' })
export class Account {
  @Key() id!: string
  @OneToMany(() => Payment, { strategy: 'consolidate', cap: { keep: 5, by: 'last' } }) recent = collection<Payment>()
  @OneToMany(() => Payment, { strategy: 'consolidate', sortKey: ['cents'], cap: { keep: 3, by: 'last' } })
  largest = collection<Payment>()
}

@Record({ set: 'writer' })
export class Writer {
  @Key() id!: number
  @Bin() name!: string
}

@Embeddable()
export class Remark {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() text!: string
  @ManyToOne(() => Writer) author = ref<Writer>()
}

@Record({ set: 'article' })
export class Article {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Remark, { strategy: 'consolidate', inverseIndex: { author: { name: 'byAuthor' } } })
  remarks = collection<Remark>()
}

@Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' })
export class Store {
  @Bin() regionId!: string
  @Bin() storeId!: string
  @Bin() city!: string
}

@Record({ set: 'region' })
export class Region {
  @Key() id!: string
  @OneToMany(() => Store, { strategy: 'consolidate' }) stores = collection<Store>()
}

export const CLASSES = [Order, Stock, Board, Account, Writer, Article, Region]

export const line = (sku: string, quantity = 1): Line => Object.assign(new Line(), { sku, quantity })
export const score = (player: string, points: number): Score => Object.assign(new Score(), { player, points })
export const payment = (id: number, cents: number): Payment => Object.assign(new Payment(), { id, cents })
export const order = (id: number, ...lines: Line[]): Order => {
  const made = Object.assign(new Order(), { id, customer: `customer ${id}` })
  made.lines.add(...lines)
  return made
}
export const stock = (id: string, ...lines: Line[]): Stock => {
  const made = Object.assign(new Stock(), { id, place: 'Bern' })
  made.lines.add(...lines)
  return made
}
export const remark = (id: string, text: string, author: Writer | number | null): Remark => {
  const made = Object.assign(new Remark(), { id, text })
  made.author.set(author)
  return made
}
