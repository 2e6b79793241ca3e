import 'reflect-metadata'
import { Bin, Counter, Embeddable, Embedded, Record } from 'skein'

@Embeddable()
export class Notification {
  @Bin() id!: string
  @Bin() from!: string
  @Bin() kind!: 'comment' | 'like'
  @Bin({ type: 'boolean' }) read = false
  @Bin() at!: Date
}

/** The notifications of one user and day: `notif:alice:2024-05-01`. */
@Record({ set: 'notif', key: 'notif:{userId}:{day|YYYY-MM-DD}', ttl: 30 * 86_400 })
export class NotificationDay {
  @Bin() userId!: string
  @Bin() day!: Date
  @Embedded(() => Notification, { as: 'array' }) items: Notification[] = []
  @Counter() received = 0
}

export const notification = (id: string, from: string, kind: Notification['kind'], at: Date): Notification =>
  Object.assign(new Notification(), { id, from, kind, at })
