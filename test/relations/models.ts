import { Bin, Key, ManyToMany, ManyToOne, OneToMany, Record, Version, collection, ref } from 'skein'

@Record({ set: 'agent' })
export class Agent {
  @Key() id!: number
  @Bin() name!: string
  @Version() version?: number
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' })
  listings = collection<Listing>()
}

@Record({ set: 'listing' })
export class Listing {
  @Key() id!: string
  @Bin() city!: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

@Record({ set: 'user' })
export class User {
  @Key() id!: number
  @Bin() name!: string
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
}

export function agent(id: number, name = `agent ${id}`): Agent {
  return Object.assign(new Agent(), { id, name })
}

export function listing(id: string, city = 'Bern'): Listing {
  return Object.assign(new Listing(), { id, city })
}

export function user(id: number): User {
  return Object.assign(new User(), { id, name: `user ${id}` })
}
