import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Follow, Star } from './models.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Who followed in the last 24 hours, of a star whom many have followed for weeks; days expire by themselves. */
export async function main(print: (text: string) => void, days = 14, perDay = 20): Promise<void> {
  const db = await open({ ...where(), entities: [Star] })
  const midnight = Math.floor(Date.now() / DAY) * DAY
  const now = new Date(midnight + 12 * HOUR)
  try {
    await db.withSession((session) => {
      const { followers } = session.create(Star, { id: 'ada' })
      for (let day = 1; day <= days; day++)
        for (let i = 0; i < perDay; i++) {
          const at = new Date(midnight - day * DAY + (i * DAY) / perDay)
          followers.add(Object.assign(new Follow(), { user: `fan-${day}-${i}`, at }))
        }
    })

    // The first of a day makes its record; from then on a follower is one command.
    for (const user of ['first', 'second']) {
      const following = await trafficOf(async () => {
        await db.withSession((session) => {
          session
            .at(Star, 'ada')
            .collection('followers')
            .add(Object.assign(new Follow(), { user, at: new Date(now.getTime() - HOUR) }))
        })
      })
      print(`The ${user} of the day follows: ${show(following)}`)
    }

    const ada = await db.session().load(Star, 'ada')
    const reading = await trafficOf(async () => {
      const lately = await ada.followers.window({ from: new Date(now.getTime() - DAY), to: now })
      print(`${lately.length} followed in the last 24 hours`)
    })
    print(`Read: ${show(reading)}`)

    const newest = await trafficOf(async () => {
      print(`The newest: ${(await ada.followers.last(3)).map(({ user }) => user).join(', ')}`)
    })
    print(`Read: ${show(newest)}`)
    print(`${await ada.followers.count()} followers within a month`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
