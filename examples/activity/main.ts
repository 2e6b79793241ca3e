import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Feed, Like, Member, Photo, Post } from './models.js'

/** An activity feed of posts and photos, and likes of either: references to several classes. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [Member, Post, Photo, Like, Feed] })
  try {
    await db.withSession((session) => {
      const [ada, bob] = ['ada', 'bob'].map((id) => session.create(Member, { id }))
      // Both have the key 1.
      const post = session.create(Post, { id: 1, title: 'Hello', author: ada })
      const photo = session.create(Photo, { id: 1, title: 'The sea', author: bob })
      session.create(Feed, { id: 'home', items: [post, photo] })
      post.likes.add(session.create(Like, { id: 'ada-1' }), session.create(Like, { id: 'bob-1' }))
      photo.likes.add(session.create(Like, { id: 'ada-2' }))
    })

    const session = db.session()
    let feed!: Feed
    const loading = await trafficOf(async () => {
      feed = await session.load(Feed, 'home', { with: ['items.author'] })
    })
    const shown = feed.items.items.map((item) => `${item.constructor.name} "${item.title}" by ${item.author.key}`)
    print(`${shown.join(', ')}: ${show(loading)}`)

    const moving = await trafficOf(async () => {
      const like = await session.load(Like, 'bob-1')
      like.subject.set('photo:1')
      await session.flush()
    })
    print(`A like moves from the post to the photo: ${show(moving)}`)
    const [post, photo] = [await session.load(Post, 1), await session.load(Photo, 1)]
    print(`Likes of the post: ${await post.likes.count()}, of the photo: ${await photo.likes.count()}`)

    await session.delete(photo)
    const left = await db.session().findMany(Like, ['ada-1', 'bob-1', 'ada-2'])
    print(`The photo is deleted with its likes; left: ${left.flatMap((like) => like?.id ?? []).join(', ')}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
