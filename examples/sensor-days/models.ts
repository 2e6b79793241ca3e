import 'reflect-metadata'
import { Bin, collection, Counter, Embeddable, KEY, Key, OneToMany, Record } from 'skein'

const MONTH = 30 * 86_400

@Embeddable()
export class Reading {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() celsius!: number
}

/** All readings of one sensor on one day; gone a month after the last of them. */
@Record({ set: 'sensor_day', key: 'sensor:{sensor}:{day|YYYY-MM-DD}', ttl: MONTH })
export class SensorDay {
  declare readonly [KEY]: 'sensor' | 'day'
  @Bin() sensor!: string
  @Bin() day!: Date
  @Counter() samples = 0
  @OneToMany(() => Reading, { strategy: 'consolidate' }) readings = collection<Reading>()
}
