import {
  Bin,
  CountOf,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
} from 'skein'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

@Embeddable()
export class Since {
  @Bin() at!: Date
  @Bin() how?: string
  @Bin({ type: 'double' }) weight?: number
}

/** Has followers by the time at which they came: on one side, with a second one, and with a date of their own. */
@Record({ set: 'dstar' })
export class Star {
  @Key() id!: string
  @Bin() name?: string
  @Sharded({ by: 'day', subkeys: 'fansIn' }) @ManyToMany(() => Star) fans = collection<Star>()
  @Index()
  @Sharded({ by: 'hour', every: 6 })
  @ManyToMany(() => Star, 'follows')
  followers = collection<Star>()
  @ManyToMany(() => Star, 'followers', { owner: true }) follows = collection<Star>()
  @CountOf('fans') fanCount = 0
}

/** Has links with a date, on both sides by it. */
@Record({ set: 'dclub' })
export class Club {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('members') memberCount = 0
  @Sharded({ by: 'day', on: 'at' })
  @ManyToMany(() => Member, 'clubs', { attributes: () => Since })
  members = collection<Member, Since>()
  @Sharded({ by: 'hour', on: 'at', ttl: 2 * 86_400, subkeys: 'guestsIn' })
  @ManyToMany(() => Member, { attributes: () => Since })
  guests = collection<Member, Since>()
}

@Record({ set: 'dmember' })
export class Member {
  @Key() id!: number
  @Sharded({ by: 'day', every: 7, on: 'at' })
  @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Since })
  clubs = collection<Club, Since>()
}

/** Has children by the day on which they came: some say whose they are, others only it knows. */
@Record({ set: 'dboard' })
export class Board {
  @Key() id!: string
  @Sharded({ by: 'day' })
  @OneToMany(() => Card, 'board', { onDelete: 'cascade' })
  cards = collection<Card>()
  @Sharded({ by: 'hour', subkeys: 'pinsIn' })
  @OneToMany(() => Pin, { orphans: 'delete', onDelete: 'cascade' })
  pins = collection<Pin>()
}

@Record({ set: 'dcard' })
export class Card {
  @Key() id!: number
  @ManyToOne(() => Board, 'cards') board = ref<Board>()
}

@Record({ set: 'dpin' })
export class Pin {
  @Key() id!: number
}

export const DATED_CLASSES = [Star, Club, Member, Board, Card, Pin]
