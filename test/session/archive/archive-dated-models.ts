import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
  type Collection,
  type EntityClass,
} from 'skein'

@Record({ set: 'ad_visitor', name: 'DatedVisitor' })
export class Visitor {
  @Key() id!: number
}

@Embeddable()
export class Visit {
  @Bin() at!: Date
  @Bin({ type: 'double' }) stars = 3
}

/** An owner of links by date: keys by the time at which they are made, and links with a date of their own. */
export interface Feed {
  id: number
  title?: string
  fanCount: number
  fans: Collection<Visitor>
  pins: Collection<Visitor>
  guests: Collection<Visitor, Visit>
}

export interface FeedClasses {
  readonly Feed: new () => Feed
  readonly all: EntityClass[]
}

export function feedIn(archive: string): FeedClasses {
  @Record({ set: 'ad_feed', name: 'Feed', archive })
  class AFeed implements Feed {
    @Key() id!: number
    @Bin() title?: string
    @CountOf('fans') fanCount = 0
    @Sharded({ by: 'day' }) @ManyToMany(() => Visitor) fans = collection<Visitor>()
    @Sharded({ by: 'hour', subkeys: 'pinsIn' }) @OneToMany(() => Visitor) pins = collection<Visitor>()
    @Sharded({ by: 'hour', every: 6, on: 'at', subkeys: 'guestsIn' })
    @ManyToMany(() => Visitor, { attributes: () => Visit })
    guests = collection<Visitor, Visit>()
  }
  return { Feed: AFeed, all: [Visitor, AFeed] }
}

export const SETS = ['ad_feed', 'ad_feed_fans', 'ad_feed_pins', 'ad_feed_guests']

const HOUR = 3_600_000

/** A visit so many times six hours after the first. */
export const visit = (step: number, stars = 3): Visit =>
  Object.assign(new Visit(), { at: new Date(1.7e12 + step * 6 * HOUR), stars })

export const ALONG = ['fans', 'pins', 'guests'] as const

/** Ids of all members, collection by collection. */
export const idsIn = ({ fans, pins, guests }: Feed): number[][] =>
  [fans, pins, guests].map((each) => each.items.map(({ id }) => id).sort())
