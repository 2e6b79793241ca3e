import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { comment, Post, User, type Comment } from './models.js'

/** A thread in one line: each comment, and its replies in brackets. */
const thread = (comments: Iterable<Comment>): string =>
  [...comments]
    .map(({ text, replies }) => (replies.items.length === 0 ? text : `${text} (${thread(replies)})`))
    .join(', ')

/** Posts with their comments in one record, and an account that is deleted with all it ever wrote. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [User, Post] })
  try {
    await db.indexes.sync()
    await db.withSession(async (session) => {
      const [alma, bo] = [session.create(User, { id: 1, name: 'Alma' }), session.create(User, { id: 2, name: 'Bo' })]
      for (let id = 1; id <= 4; id++) {
        const post = session.create(Post, { id, title: `post ${id}` })
        post.comments.add(comment(`Alma on ${id}`, alma))
        if (id % 2 === 0) post.comments.add(comment(`Bo on ${id}`, bo), comment(`Bo again on ${id}`, bo))
      }
    })

    const session = db.session()
    let post!: Post
    const loading = await trafficOf(async () => {
      post = await session.load(Post, 2, { with: ['comments.author'] })
    })
    for (const { text, author } of post.comments) print(`${author.value!.name}: ${text}`)
    print(`  a post, its comments and their authors: ${show(loading)}`)

    const [, first] = post.comments.items
    post.comments.remove(first)
    print(`One comment removed: ${show(await trafficOf(() => session.flush()))}`)

    const almas = post.comments.items[0]
    almas.replies.add(comment('Bo replies', 2))
    almas.replies.items[0].replies.add(comment('Alma replies', 1))
    print(`Two replies, one below the other: ${show(await trafficOf(() => session.flush()))}`)
    for await (const { id, comments } of db.session().pointingTo(Post, 'comments.replies.author', 2))
      print(`Bo replied on post ${id}: ${thread(comments)}`)

    const commented: number[] = []
    for await (const { id } of db.session().pointingTo(Post, 'comments.author', 2)) commented.push(id)
    print(`Bo commented on the posts ${commented.sort().join(' and ')}: one index query`)

    const deleting = await trafficOf(() => db.session().delete(User, 2))
    print(`Bo's account deleted: ${show(deleting)}`)
    const left = await db.session().loadMany(Post, [1, 2, 3, 4])
    for (const { title, comments } of left) print(`${title}: ${thread(comments)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
