import { Bin, Embeddable, Embedded, Index, Key, ManyToOne, OneToMany, Record, Version, collection, ref } from 'skein'

/** Given to a second process, so that it looks into the same sets. */
export const unique = process.env.SKEIN_QUERY_SETS ?? `q${process.pid}${Date.now() % 1e6}`

@Embeddable()
export class Geo {
  @Bin({ type: 'double' }) lat!: number
}

@Embeddable()
export class Address {
  @Bin() street!: string
  @Bin({ type: 'int' }) zip?: number
  @Embedded(() => Geo) geo?: Geo
}

export enum State {
  Draft = 'draft',
  Open = 'open',
  Sold = 'sold',
}

@Record({ set: `${unique}a` })
export class Agent {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Listing, 'agent', { strategy: 'secondaryIndex' }) listings = collection<Listing>()
}

@Record({ set: `${unique}l` })
export class Listing {
  @Key() id!: string
  @Index() @Bin() city!: string
  @Index() @Bin({ type: 'int' }) price!: number
  @Bin({ type: 'double' }) rating?: number
  @Bin({ type: { enum: State } }) state!: State
  @Bin() isNew?: boolean
  @Index() @Bin() listedAt?: Date
  @Bin({ type: 'bigint' }) views?: bigint
  @Bin() seal?: Buffer
  @Index() @Bin({ type: { list: 'string' } }) tags?: string[]
  @Bin({ type: { set: 'int' } }) rooms?: Set<number>
  @Index({ on: 'mapKeys' }) @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
  @Embedded(() => Address) address?: Address
  @Embedded(() => Address, { layout: 'bins', prefix: 'o_' }) office?: Address
  @Bin({ type: 'json' }) extra?: unknown
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @Version() version?: number
}

@Record({ set: `${unique}o`, tenant: true })
export class Order {
  @Key() id!: number
  @Index() @Bin() state!: string
}

@Record({ set: `${unique}i`, key: '{tenant}:{number}', tenant: true })
export class Invoice {
  @Bin() tenant!: string
  @Bin({ type: 'int' }) number!: number
  @Index() @Bin() state!: string
}

@Record({ set: `${unique}s`, discriminator: 'kind' })
export abstract class Shape {
  @Key() id!: number
  @Index() @Bin() color!: string
}

@Record({ discriminatorValue: 'circle' })
export class Circle extends Shape {
  @Bin({ type: 'int' }) radius!: number
}

@Record({ discriminatorValue: 'square' })
export class Square extends Shape {
  @Index() @Bin({ type: 'int' }) side!: number
}

export const ALL = [Agent, Listing, Order, Invoice, Shape, Circle, Square]

export function listing(id: string, values: Partial<Listing>): Listing {
  return Object.assign(new Listing(), { id, city: 'Bern', price: 1, state: State.Open, ...values })
}
