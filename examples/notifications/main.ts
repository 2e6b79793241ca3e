import 'reflect-metadata'
import { open } from 'skein'
import { showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { notification, NotificationDay } from './models.js'

const DAY = new Date('2024-05-01T00:00:00Z')
const SENDERS = ['bob', 'carol', 'dave']

/** Notifications per user and day, which nobody ever loads whole: they come in, are counted, marked and removed on the server. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [NotificationDay] })
  try {
    const key = { userId: 'alice', day: DAY }
    const receiving = await trafficOf(() =>
      Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const session = db.session()
          const today = session.at(NotificationDay, key, { create: true })
          const at = new Date(DAY.getTime() + i * 60_000)
          today.list('items').append(notification(`n${i}`, SENDERS[i % 3], i % 2 === 0 ? 'like' : 'comment', at))
          today.counter('received').add(1)
          await session.flush()
        }),
      ),
    )
    print(`30 come in at once, the first of them makes the record: ${showBytes(receiving)}`)

    const session = db.session()
    const today = session.at(NotificationDay, key)
    const items = today.list('items')
    const counting = await trafficOf(async () => print(`${await items.where({ read: false }).count()} unread`))
    print(`  ${showBytes(counting)}`)

    const marking = await trafficOf(async () => {
      items.where({ id: 'n7' }).set({ read: true })
      await session.flush()
    })
    print(`One is marked as read: ${showBytes(marking)}`)

    const blocking = await trafficOf(async () => {
      items.where({ from: 'dave' }).remove()
      await session.flush()
    })
    print(`Those of a blocked user are removed: ${showBytes(blocking)}`)

    const listing = await trafficOf(async () => {
      const comments = await items.where((item) => item.kind.eq('comment').and(item.read.eq(false))).select()
      print(`Unread comments: ${comments.map(({ id, from }) => `${id} of ${from}`).join(', ')}`)
    })
    print(`  ${showBytes(listing)}`)
    print(`${await today.counter('received').value()} came in, ${await items.size()} are left`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
