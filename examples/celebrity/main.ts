import 'reflect-metadata'
import { open } from 'skein'
import { show, showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Star, User } from './models.js'

const CHUNK = 5_000
const idOf = (i: number): string => `fan-${String(i).padStart(6, '0')}`

/** A celebrity whose followers live in 35 companion records; `FOLLOWERS=300000` makes it as many as such people have. */
export async function main(
  print: (text: string) => void,
  followers = Number(process.env.FOLLOWERS ?? 3_000),
): Promise<void> {
  const db = await open({ ...where(), entities: [Star, User] })
  try {
    await db.withSession((session) => void session.create(Star, { id: 'ada', name: 'Ada' }))
    for (let first = 0; first < followers; first += CHUNK) {
      const ids = Array.from({ length: Math.min(CHUNK, followers - first) }, (_, i) => idOf(first + i))
      await db.withSession((session) => ids.forEach((id) => session.create(User, { id, name: `Fan ${id.slice(-4)}` })))
      await db.withSession((session) => {
        session
          .at(Star, 'ada')
          .collection('followers')
          .add(...ids)
      })
    }
    print(`${followers.toLocaleString('en')} users follow Ada`)

    await db.withSession((session) => void session.create(User, { id: 'late', name: 'Late' }))
    const following = await trafficOf(() =>
      db.withSession((session) => session.at(Star, 'ada').collection('followers').add('late')),
    )
    print(`One more follows: ${showBytes(following)}`)

    const session = db.session()
    const star = await session.load(Star, 'ada')
    let text = ''
    const asking = await trafficOf(async () => {
      const isThere = await star.followers.contains(idOf(7))
      text = `${idOf(7)} follows Ada: ${isThere}`
    })
    print(`${text}: ${show(asking)}`)
    const counting = await trafficOf(async () => {
      const count = await star.followers.count()
      text = `Ada has ${count.toLocaleString('en')} followers`
    })
    print(`${text}: ${show(counting)}`)

    let after: string | undefined
    for (const page of [1, 2]) {
      const paging = await trafficOf(async () => {
        const found = await star.followers.page({ count: 5, ...(after === undefined ? {} : { after }) })
        after = found.next
        text = found.map(({ name }) => name).join(', ')
      })
      print(`Page ${page}: ${text}: ${show(paging)}`)
    }

    session
      .at(User, 'late')
      .collection('following')
      .add(...[1, 2, 3].map(idOf))
    await session.flush()
    const loading = await trafficOf(async () => {
      const late = await db.session().load(User, 'late', { with: ['following'] })
      text = late.following.items.map(({ name }) => name).join(', ')
    })
    print(`Late follows ${text}: ${show(loading)}`)
    const reading = await trafficOf(() => db.session().load(User, 'late'))
    print(`Late alone, without that list: ${show(reading)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
