import {
  Bin,
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

export const SHARDS = 4

/** A class with comments that say whose they are, and readers that only it knows. */
@Record({ set: 'gpost' })
export class Post {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hash', shards: SHARDS, when: { members: 20 } })
  @OneToMany(() => Comment, 'post', { onDelete: 'cascade' })
  comments = collection<Comment>()
  @Sharded({ by: 'hash', shards: SHARDS, when: { bytes: 2_000 }, subkeys: 'readersIn' })
  @OneToMany(() => Reader)
  readers = collection<Reader>()
}

@Record({ set: 'gcomment' })
export class Comment {
  @Key() id!: number
  @Bin() text?: string
  @ManyToOne(() => Post, 'comments') post = ref<Post>()
}

@Record({ set: 'greader' })
export class Reader {
  @Key() id!: string
}

/** Follows and is followed; both sides may be split, by calls. */
@Record({ set: 'gfan' })
export class Fan {
  @Key() id!: string
  @Bin() name?: string
  @Sharded({ by: 'hash', shards: SHARDS, when: {} })
  @ManyToMany(() => Fan, 'followers', { owner: true })
  follows = collection<Fan>()
  @Sharded({ by: 'hash', shards: SHARDS, when: { members: 1_000 }, subkeys: 'followersIn' })
  @ManyToMany(() => Fan, 'follows')
  followers = collection<Fan>()
}

@Embeddable()
export class Seat {
  @Bin() role!: string
  @Bin({ type: 'double' }) share = 2
}

@Record({ set: 'gperson' })
export class Person {
  @Key() id!: number
  @ManyToMany(() => Club, 'people', { owner: true, attributes: () => Seat }) clubs = collection<Club, Seat>()
}

@Record({ set: 'gclub' })
export class Club {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS, when: { members: 10 } })
  @ManyToMany(() => Person, 'clubs', { attributes: () => Seat })
  people = collection<Person, Seat>()
}

/** A class that is split as soon as three writes in a second were told to wait. */
@Record({ set: 'gbusy' })
export class Busy {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 2, when: { busyPerSecond: 3 } }) @OneToMany(() => Reader) readers =
    collection<Reader>()
  @Sharded({ by: 'hash', shards: 2, when: {}, subkeys: 'keptIn' }) @OneToMany(() => Reader) kept = collection<Reader>()
}

/** A class that is deleted softly. */
@Record({ set: 'galbum' })
export class Album {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
  @Sharded({ by: 'hash', shards: SHARDS, when: {} }) @OneToMany(() => Reader) readers = collection<Reader>()
}

export const GROWING_CLASSES = [Album, Busy, Post, Comment, Reader, Fan, Person, Club]

export const make = <T extends object>(entityClass: new () => T, values: object): T =>
  Object.assign(new entityClass(), values)
