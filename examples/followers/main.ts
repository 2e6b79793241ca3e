import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { User } from './models.js'

const STAR = 1
const CHUNK = 5_000

/** A user with 50,000 followers: asked about and paged through without ever loading them. */
export async function main(print: (text: string) => void, followers = 50_000): Promise<void> {
  const db = await open({ ...where(), entities: [User] })
  try {
    const joining = await trafficOf(async () => {
      await db.withSession(async (session) => void session.create(User, { id: STAR, name: 'Star' }))
      for (let first = 2; first < followers + 2; first += CHUNK) {
        await db.withSession(async (session) => {
          const last = Math.min(first + CHUNK, followers + 2)
          const star = session.at(User, STAR).collection('followers')
          for (let id = first; id < last; id++) star.add(session.create(User, { id, name: `user ${id}` }))
        })
      }
    })
    print(`${followers.toLocaleString('en')} users follow user ${STAR}: ${show(joining)}`)

    const session = db.session()
    const star = session.at(User, STAR)
    const checking = await trafficOf(async () => {
      print(`User 777 follows user ${STAR}: ${await star.collection('followers').contains(777)}`)
    })
    print(`  ${show(checking)}, answered by the server`)
    let count = 0
    const counting = await trafficOf(async () => (count = await star.collection('followers').count()))
    print(`User ${STAR} has ${count.toLocaleString('en')} followers: ${show(counting)}`)

    const offset = followers - 1_000
    let names: string[] = []
    const paging = await trafficOf(async () => {
      const page = await star.collection('followers').page({ offset, count: 5 })
      names = page.map(({ name }) => name)
    })
    print(`Five of them from position ${offset.toLocaleString('en')} on: ${names.join(', ')}`)
    print(`  ${show(paging)}: five keys, then five users`)

    const following = await trafficOf(async () => {
      session.at(User, 2).collection('follows').add(3)
      await session.flush()
    })
    print(`User 2 follows user 3: ${show(following)}, neither was loaded`)
    let back: readonly unknown[] = []
    const asking = await trafficOf(async () => (back = await db.session().at(User, 3).collection('followers').keys()))
    print(`Followers of user 3: ${back.join(', ')}: ${show(asking)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
