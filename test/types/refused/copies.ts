import { Bin, Copy, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name?: string
  @Bin() age!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
}

@Record({ set: 'listing' })
export class Listing {
  @Key() id!: string
  @Bin() city!: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @Copy((listing: Listing) => listing.agent, 'name') agentName?: string
  @Copy((listing: Listing) => listing.agent, 'age', { refresh: 'never' }) agentAge?: number | null
  // expect: The copy wrongType has another type than name.
  @Copy((listing: Listing) => listing.agent, 'name')
  wrongType?: number
  // expect: '"nme"' is not assignable to parameter of type … "name"
  @Copy((listing: Listing) => listing.agent, 'nme')
  typo?: string
  // expect: Type 'string' is not assignable to type 'Ref
  @Copy((listing: Listing) => listing.city, 'name')
  noReference?: string
  // expect: Type '"daily"' is not assignable to type
  @Copy((listing: Listing) => listing.agent, 'name', { refresh: 'daily' })
  daily?: string
}
