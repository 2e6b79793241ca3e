import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { Avatar, Profile } from './models.js'

/** One to one across two namespaces: what is small and hot apart from what is large and cold, under one key. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({
    embedded: { namespaces: ['users:sc', 'media:ap'] },
    namespace: 'users',
    entities: [Profile, Avatar],
  })
  try {
    const session = db.session()
    const ada = session.create(Profile, { id: 'ada', name: 'Ada', email: 'ada@example.com' })
    ada.avatar.set(Object.assign(new Avatar(), { type: 'image/png', image: new Uint8Array(64 * 1024) }))
    const saving = await trafficOf(() => session.flush())
    print(`Ada and her avatar of 64 KiB saved, each in its namespace: ${show(saving)}`)

    const alone = await trafficOf(() => db.session().load(Profile, 'ada'))
    print(`Ada alone, as on every page: ${show(alone)}`)

    let found!: Profile
    const both = await trafficOf(async () => {
      found = await db.session().load(Profile, 'ada', { with: ['avatar'] })
    })
    print(`Ada with her avatar (${found.avatar.value?.image.length} bytes): ${show(both)}`)

    const renaming = db.session()
    const renamed = await renaming.load(Profile, 'ada', { with: ['avatar'] })
    renamed.name = 'Ada L.'
    const update = await trafficOf(() => renaming.flush())
    print(`Ada renamed; the image was not sent again: ${show(update)}`)

    const deleting = await trafficOf(() => db.session().delete(Profile, 'ada'))
    const left = await db.session().find(Avatar, 'ada')
    print(`Ada deleted, her avatar is ${left === null ? 'gone too' : 'still there'}: ${show(deleting)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
