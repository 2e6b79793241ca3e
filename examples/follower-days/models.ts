import 'reflect-metadata'
import { Bin, collection, Embeddable, Key, ManyToMany, Record, Sharded } from 'skein'

const MONTH = 30 * 86_400

/** When somebody began to follow. */
@Embeddable()
export class Following {
  @Bin() since!: Date
}

@Record({ set: 'fan' })
export class Fan {
  @Key() id!: string
}

/** The followers of a star are kept by the day on which they came; a day is gone a month after it. */
@Record({ set: 'star' })
export class Star {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'since', ttl: MONTH })
  @ManyToMany(() => Fan, { attributes: () => Following })
  followers = collection<Fan, Following>()
}
