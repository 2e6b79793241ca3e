import { Bin, Embeddable, Key, OneToMany, Record, Sharded, collection } from 'skein'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

@Embeddable()
export class Event {
  @Key() id!: string
  @Bin() at!: Date
  @Bin() text?: string
}

/** An owner with events by the day, by six hours, and by the hour for two days. */
@Record({ set: 'bsite' })
export class Site {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'at' }) @OneToMany(() => Event, { strategy: 'consolidate' }) events = collection<Event>()
  @Sharded({ by: 'hour', every: 6, on: 'at', subkeys: 'hitsIn' })
  @OneToMany(() => Event, { strategy: 'consolidate', sortKey: ['at', 'text'] })
  hits = collection<Event>()
  @Sharded({ by: 'hour', on: 'at', ttl: 2 * 86_400, subkeys: 'recentIn' })
  @OneToMany(() => Event, { strategy: 'consolidate' })
  recent = collection<Event>()
}

export const event = (id: string, at: number, text?: string): Event =>
  Object.assign(new Event(), { id, at: new Date(at), ...(text === undefined ? {} : { text }) })
