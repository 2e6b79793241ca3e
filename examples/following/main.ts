import 'reflect-metadata'
import { open } from 'skein'
import { show, showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { User } from './models.js'

const idOf = (i: number): string => `user-${String(i).padStart(4, '0')}`

/** Users whose records stay as small as they are, however many they follow. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [User] })
  try {
    await db.withSession((session) => {
      session.create(User, { id: 'ada', name: 'Ada' })
      for (let i = 0; i < 1_000; i++) session.create(User, { id: idOf(i), name: `User ${i}` })
    })
    const follow = (...ids: string[]): Promise<unknown> =>
      db.withSession(
        (session) =>
          void session
            .at(User, 'ada')
            .collection('following')
            .add(...ids),
      )
    await follow(idOf(0))
    print(`Ada follows her second: ${showBytes(await trafficOf(() => follow(idOf(1))))}`)
    await follow(...Array.from({ length: 996 }, (_, i) => idOf(i + 2)))
    print(`Ada follows one more, after 998: ${showBytes(await trafficOf(() => follow(idOf(998))))}`)

    const session = db.session()
    let text = ''
    const profile = await trafficOf(async () => {
      text = (await session.load(User, 'ada')).name
    })
    print(`The profile of ${text}: ${show(profile)}`)
    const ada = await session.load(User, 'ada')
    const asking = await trafficOf(async () => {
      text = `${await ada.following.count()}, ${idOf(7)} is one of them: ${await ada.following.contains(idOf(7))}`
    })
    print(`She follows ${text}: ${show(asking)}`)
    const paging = await trafficOf(async () => {
      text = (await ada.following.page({ count: 3 })).map(({ name }) => name).join(', ')
    })
    print(`The first three: ${text}: ${show(paging)}`)

    ada.following.remove(idOf(7))
    print(`She follows one less: ${showBytes(await trafficOf(() => session.flush()))}`)
    await session.delete(ada)
    const left = await db.client.query('test', 'following').results()
    print(`Records of whom she follows, once she is deleted: ${left.length}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
