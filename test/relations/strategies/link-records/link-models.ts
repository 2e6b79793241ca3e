import {
  BeforeSave,
  Bin,
  collection,
  CreatedAt,
  DeletedAt,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  Version,
  type EntityClass,
} from 'skein'

/** Calls of the hook of links. */
export const saved: string[] = []

/** Followers by lists of keys at both ends. */
@Record({ set: 'lperson' })
export class Person {
  @Key() id!: string
  @Bin() city?: string
  @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
  @ManyToMany(() => Person, { through: () => Follow }) followers = collection<Person, Follow>()
}

@Record({ set: 'lfollow', key: '{from}:{to}' })
export class Follow {
  @ManyToOne(() => Person, 'follows') from = ref<Person>()
  @ManyToOne(() => Person, 'followers') to = ref<Person>()
  @ManyToOne(() => Topic) topic = ref<Topic>()
  @Bin() kind?: string
  @Bin() since?: number
  @Version() version?: number

  @BeforeSave()
  noteSaved(): void {
    saved.push(`${this.from.key as string}:${this.to.key as string}`)
  }
}

@Record({ set: 'ltopic' })
export class Topic {
  @Key() id!: string
}

/** Access lists: the user lists the documents, an index finds the users of a document. */
@Record({ set: 'luser' })
export class User {
  @Key() id!: number
  @ManyToMany(() => Doc, { through: () => Access }) docs = collection<Doc, Access>()
}

@Record({ set: 'ldoc' })
export class Doc {
  @Key() id!: string
  @Bin() title?: string
  @ManyToMany(() => User, { through: () => Access, strategy: 'secondaryIndex', onDelete: 'restrict' })
  users = collection<User, Access>()
}

@Record({ set: 'laccess', key: 'a:{user}:{doc}', ttl: 100_000 })
export class Access {
  @ManyToOne(() => User, 'docs') user = ref<User>()
  @ManyToOne(() => Doc, 'users') doc = ref<Doc>()
  @Index() @Bin() role?: string
  @CreatedAt() at?: Date
}

export const LINKED: readonly EntityClass[] = [Person, Follow, Topic, User, Doc, Access]

/** Subscriptions that keep what was: unlinking is a soft delete. */
@Record({ set: 'lreader' })
export class Reader {
  @Key() id!: string
  @ManyToMany(() => Feed, { through: () => Subscription }) feeds = collection<Feed, Subscription>()
}

@Record({ set: 'lfeed' })
export class Feed {
  @Key() id!: string
  @ManyToMany(() => Reader, { through: () => Subscription, strategy: 'secondaryIndex' })
  readers = collection<Reader, Subscription>()
}

@Record({ set: 'lsubscription', key: '{reader}:{feed}' })
export class Subscription {
  @ManyToOne(() => Reader, 'feeds') reader = ref<Reader>()
  @ManyToOne(() => Feed, 'readers') feed = ref<Feed>()
  @Bin() plan?: string
  @DeletedAt() endedAt?: Date
}

export const SOFT: readonly EntityClass[] = [Reader, Feed, Subscription]

/** Stays that forbid the delete of either end while they last, and are kept when they end. */
@Record({ set: 'lroom' })
export class Room {
  @Key() id!: number
  @ManyToMany(() => Guest, { through: () => Stay, onDelete: 'restrict' }) guests = collection<Guest, Stay>()
}

@Record({ set: 'lguest' })
export class Guest {
  @Key() id!: string
  @ManyToMany(() => Room, { through: () => Stay, strategy: 'secondaryIndex', onDelete: 'restrict' })
  rooms = collection<Room, Stay>()
}

@Record({ set: 'lstay', key: '{room}:{guest}' })
export class Stay {
  @ManyToOne(() => Room, 'guests') room = ref<Room>()
  @ManyToOne(() => Guest, 'rooms') guest = ref<Guest>()
  @DeletedAt() leftAt?: Date
}

export const STAYS: readonly EntityClass[] = [Room, Guest, Stay]
