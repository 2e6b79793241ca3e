import 'reflect-metadata'
import { Bin, Counter, Embeddable, Embedded, Key, Record } from 'skein'

@Embeddable()
export class Activity {
  @Counter() messages = 0
  @Counter() reactions = 0
}

/** Statistics of a member, nested by kind: `stats.accolades.jokes`. */
@Record({ set: 'stats_member' })
export class Member {
  @Key() name!: string
  @Bin({ type: { map: { map: 'int' } } }) stats = new Map<string, Map<string, number>>()
  @Embedded(() => Activity) activity = new Activity()
}
