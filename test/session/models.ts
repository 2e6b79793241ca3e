import 'reflect-metadata'
import { Bin, Counter, CreatedAt, Embeddable, Embedded, Generation, Key, Record, Ttl, UpdatedAt, Version } from 'skein'

@Embeddable()
export class Address {
  @Bin() street?: string
  @Bin() city!: string
}

/** Everyday values, no version. */
@Record({ set: 'person' })
export class Person {
  @Key() id!: string
  @Bin() name!: string
  @Bin() age?: number
  @Bin() born?: Date
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @Bin({ type: { set: 'string' } }) roles?: Set<string>
  @Embedded(() => Address) home?: Address
}

/** Everything that the mapper keeps by itself. */
@Record({ set: 'account' })
export class Account {
  @Key() id!: number
  @Bin() owner!: string
  @Bin() balance: number = 0
  @Version() version?: number
  @CreatedAt() createdAt?: Date
  @UpdatedAt() updatedAt?: Date
  @Generation() generation?: number
}

@Record({ set: 'ticket', ttl: 100 })
export class Ticket {
  @Key({ generate: 'uuid' }) id!: string
  @Bin() title!: string
  @Ttl() ttl?: number
}

@Record({ set: 'lease', ttl: { seconds: 100, onUpdate: 'refresh' } })
export class Lease {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() holder!: string
}

@Record({ set: 'page' })
export class Page {
  @Key() path!: string
  @Bin() title?: string
  @Counter() views: number = 0
}

@Record({ set: 'animal', discriminator: 'kind' })
export abstract class Animal {
  @Key() id!: string
  @Bin() name!: string
}

@Record({ discriminatorValue: 'dog' })
export class Dog extends Animal {
  @Bin() tricks?: number
}

@Record({ discriminatorValue: 'cat' })
export class Cat extends Animal {
  @Bin() lives?: number
}

@Record({ set: 'order', key: '{tenant}:{orderId}', tenant: true })
export class Order {
  @Bin() tenant!: string
  @Bin() orderId!: number
  @Bin() total!: number
}

@Record({ set: 'note', tenant: true })
export class Note {
  @Key() id!: number
  @Bin() text!: string
}

export const CLASSES = [Person, Account, Ticket, Lease, Page, Animal, Dog, Cat, Order, Note]
