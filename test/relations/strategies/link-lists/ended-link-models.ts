import { Bin, collection, DeletedAt, Embeddable, Key, ManyToMany, Record, type EntityClass } from 'skein'
import { Apart, InShards } from '../../property/in-companions.js'

@Embeddable()
export class Post {
  @Bin() role!: string
  @Bin({ type: 'double' }) share?: number
  @DeletedAt() leftAt?: Date
}

@Record({ set: 'eagent' })
export class Agent {
  @Key() id!: number
  @InShards('officesIn') @ManyToMany(() => Office, 'agents', { owner: true, attributes: () => Post }) offices =
    collection<Office, Post>()
}

@Record({ set: 'eoffice' })
export class Office {
  @Key() id!: string
  @DeletedAt() closedAt?: Date
  @Apart('agentsIn') @ManyToMany(() => Agent, 'offices', { attributes: () => Post }) agents = collection<Agent, Post>()
}

/** Friends of each other: the relation is its own other side. */
@Record({ set: 'efriend' })
export class Friend {
  @Key() id!: string
  @InShards('friendsIn') @ManyToMany(() => Friend, 'friends', { attributes: () => Post }) friends = collection<
    Friend,
    Post
  >()
  @Apart('visitedIn') @ManyToMany(() => Office, { attributes: () => Post }) visited = collection<Office, Post>()
}

export const ENDED: EntityClass[] = [Agent, Office, Friend]
