import 'reflect-metadata'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { open, type Database, type SplitEvent } from 'skein'
import { where } from '../where.js'
import { Comment, Post } from './models.js'

const WRITERS = 16

/** A post becomes popular: 16 people comment on it and like comments at the same time, and its record is split while they do. */
export async function main(print: (text: string) => void, commentsOfEach = 30): Promise<void> {
  const db = await open({ ...where(), entities: [Post] })
  const splits: SplitEvent[] = []
  const note = (event: unknown): void => void splits.push(event as SplitEvent)
  subscribe('skein:split', note)
  try {
    await db.withSession((session) => {
      const { comments } = session.create(Post, { id: 'hello', title: 'Hello' })
      comments.add(Object.assign(new Comment(), { id: 'first', text: 'First!', at: new Date(0) }))
    })
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => comment(db, writer, commentsOfEach)))
    for (const { class: name, property, from, to, reason } of splits)
      print(`${name}.${property}: from ${from} to ${to} companion records, because of ${reason}`)

    const { comments } = await db.session().load(Post, 'hello')
    print(`${await comments.count()} comments, and ${WRITERS} were removed`)
    print(`The last: ${(await comments.last(3)).map(({ text }) => text).join(', ')}`)
    print(`The first was liked ${(await comments.get('first'))!.likes} times`)

    await comments.merge()
    print(`Back in one record: ${await comments.count()} comments`)
  } finally {
    unsubscribe('skein:split', note)
    await db.close()
  }
}

/** Writes comments one after another, likes the first one each time, and removes one of its own at the end. */
async function comment(db: Database, writer: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await db.withSession((session) => {
      const post = session.at(Post, 'hello')
      const text = `comment ${i} of ${writer}`
      const at = new Date(1000 * i + writer)
      post.collection('comments').add(Object.assign(new Comment(), { id: `${writer}-${i}`, text, at }))
    })
  for (let i = 0; i < count; i++)
    await db.withSession(async (session) => {
      const { comments } = await session.load(Post, 'hello')
      const first = await comments.get('first')
      first!.likes += 1
    })
  await db.withSession((session) => void session.at(Post, 'hello').collection('comments').remove(`${writer}-0`))
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
