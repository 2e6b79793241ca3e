import 'reflect-metadata'
import { Bin, collection, Embeddable, Key, OneToMany, Record, Sharded } from 'skein'

const MONTH = 30 * 86_400

/** Somebody who began to follow, and when. */
@Embeddable()
export class Follow {
  @Key() user!: string
  @Bin() at!: Date
}

/** The followers of a user are kept by the day on which they came; a day is gone a month after it. */
@Record({ set: 'star' })
export class Star {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'at', ttl: MONTH })
  @OneToMany(() => Follow, { strategy: 'consolidate' })
  followers = collection<Follow>()
}
