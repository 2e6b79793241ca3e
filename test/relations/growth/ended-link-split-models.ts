import { Bin, DeletedAt, Embeddable, Key, ManyToMany, Record, Sharded, collection, type EntityClass } from 'skein'

@Embeddable()
export class Stay {
  @Bin() room!: string
  @Bin({ type: 'double' }) price!: number
  @DeletedAt() leftAt?: Date
}

/** Guests that have left stay known, in whichever record they are. */
@Record({ set: 'ghotel' })
export class Hotel {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 3, when: {} })
  @ManyToMany(() => Guest, 'hotels', { owner: true, attributes: () => Stay })
  guests = collection<Guest, Stay>()
}

@Record({ set: 'gguest' })
export class Guest {
  @Key() id!: number
  @ManyToMany(() => Hotel, 'guests', { attributes: () => Stay }) hotels = collection<Hotel, Stay>()
}

export const HOTELS: readonly EntityClass[] = [Hotel, Guest]
