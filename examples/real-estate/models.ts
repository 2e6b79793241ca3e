import 'reflect-metadata'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

/** An agent's record holds an ordered list of the keys of its listings. Deleting an agent deletes them too. */
@Record({ set: 'agent' })
export class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Bin() email!: string
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' })
  listings = collection<Listing>()
}

/** A listing's record holds the key of its agent. */
@Record({ set: 'listing' })
export class Listing {
  @Key() id!: string
  @Bin() street!: string
  @Bin() city!: string
  @Bin() price!: number
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}
