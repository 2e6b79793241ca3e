import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Fan, Star } from './models.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Followers of the last 24 hours, of a star whom many have followed for weeks; days expire by themselves. */
export async function main(print: (text: string) => void, days = 14, perDay = 20): Promise<void> {
  const db = await open({ ...where(), entities: [Star, Fan] })
  const midnight = Math.floor(Date.now() / DAY) * DAY
  const now = new Date(midnight + 12 * HOUR)
  try {
    await db.withSession((session) => {
      const { followers } = session.create(Star, { id: 'ada' })
      for (let day = 1; day <= days; day++)
        for (let i = 0; i < perDay; i++) {
          const since = new Date(midnight - day * DAY + (i * DAY) / perDay)
          followers.link(session.create(Fan, { id: `fan-${day}-${i}` }), { since })
        }
      for (const id of ['first', 'second']) session.create(Fan, { id })
    })

    // The first of a day makes its record; from then on a follower is one command.
    for (const fan of ['first', 'second']) {
      const following = await trafficOf(async () => {
        await db.withSession((session) => {
          const since = new Date(now.getTime() - HOUR)
          session.at(Star, 'ada').collection('followers').link(fan, { since })
        })
      })
      print(`The ${fan} of the day follows: ${show(following)}`)
    }

    const ada = await db.session().load(Star, 'ada')
    const reading = await trafficOf(async () => {
      const lately = await ada.followers.window({ from: new Date(now.getTime() - DAY), to: now })
      print(`${lately.length} followed in the last 24 hours`)
    })
    print(`Read: ${show(reading)}`)

    const newest = await trafficOf(async () => {
      print(`The newest: ${(await ada.followers.last(3)).map(({ id }) => id).join(', ')}`)
    })
    print(`Read: ${show(newest)}`)
    print(`${await ada.followers.count()} followers within a month`)

    // A key does not say when: one batch asks all days, and one command takes it out.
    const leaving = await trafficOf(async () => {
      await db.withSession((session) => void session.at(Star, 'ada').collection('followers').remove('fan-3-7'))
    })
    print(`Unfollow: ${show(leaving)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
