import {
  Bin,
  Companion,
  DeletedAt,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
} from 'skein'

export const SHARDS = 5

/** Follows few and is followed by many. */
@Record({ set: 'cuser' })
export class User {
  @Key() id!: string
  @Bin() name?: string
  @Companion({ subkeys: 'followsIn' })
  @ManyToMany(() => User, 'followers', { owner: true })
  follows = collection<User>()
  @Sharded({ by: 'hash', shards: SHARDS }) @ManyToMany(() => User, 'follows') followers = collection<User>()
}

/** An owner with children of which each says whose it is, and others that only it knows. */
@Record({ set: 'cagent' })
export class Agent {
  @Key() id!: number
  @Bin() name?: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' })
  listings = collection<Listing>()
  @Companion({ set: 'cagent_kept', subkeys: 'keptIn' }) @OneToMany(() => Listing) kept = collection<Listing>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'ownedIn' })
  @OneToMany(() => Note, { orphans: 'delete', onDelete: 'cascade' })
  notes = collection<Note>()
}

@Record({ set: 'clisting' })
export class Listing {
  @Key() id!: string
  @Bin() city?: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

@Record({ set: 'cnote' })
export class Note {
  @Key() id!: number
}

@Embeddable()
export class Membership {
  @Bin() role!: string
}

/** An owner with links that have attributes; only the other side keeps them apart. */
@Record({ set: 'cperson' })
export class Person {
  @Key() id!: number
  @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Membership }) clubs = collection<
    Club,
    Membership
  >()
}

@Record({ set: 'cclub' })
export class Club {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @ManyToMany(() => Person, 'clubs', { attributes: () => Membership })
  members = collection<Person, Membership>()
}

/** Lists posts that stay when they are deleted. */
@Record({ set: 'cblog' })
export class Blog {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS }) @OneToMany(() => Post) posts = collection<Post>()
}

/** Stays when it is deleted, with its notes. */
@Record({ set: 'cshelf' })
export class Shelf {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
  @Sharded({ by: 'hash', shards: SHARDS }) @OneToMany(() => Note) notes = collection<Note>()
}

@Record({ set: 'cpost' })
export class Post {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
}

export const COMPANION_CLASSES = [User, Agent, Listing, Note, Person, Club, Blog, Post]

export const user = (id: string, name = id): User => Object.assign(new User(), { id, name })
export const agent = (id: number): Agent => Object.assign(new Agent(), { id })
export const listing = (id: string): Listing => Object.assign(new Listing(), { id })
export const person = (id: number): Person => Object.assign(new Person(), { id })
export const club = (id: string): Club => Object.assign(new Club(), { id })
