import { Bin, Embeddable, Embedded, Key, OneToMany, Record, Version, collection } from 'skein'
import { Listing } from './listing.js'

@Embeddable()
export class Address {
  @Bin({ type: 'string' }) city: string

  constructor(city: string) {
    this.city = city
  }
}

@Record({ set: 'agent' })
export class Agent {
  @Key({ type: 'int' }) id!: number
  @Bin({ type: 'string' }) name!: string
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Embedded(() => Address) address?: Address
  @Version() version?: number
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' }) listings = collection<Listing>()
}
