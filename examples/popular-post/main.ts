import 'reflect-metadata'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { open, type Database, type SplitEvent } from 'skein'
import { where } from '../where.js'
import { Comment, Post } from './models.js'

const WRITERS = 16

/** A post becomes popular: 16 people comment on it at the same time, and its record is split while they do. */
export async function main(print: (text: string) => void, commentsOfEach = 30): Promise<void> {
  // In transactions, 16 writers of one record would mostly wait for each other.
  const db = await open({ ...where(), entities: [Post, Comment], transactions: 'off' })
  const splits: SplitEvent[] = []
  const note = (event: unknown): void => void splits.push(event as SplitEvent)
  subscribe('skein:split', note)
  try {
    await db.withSession((session) => void session.create(Post, { id: 'hello', title: 'Hello' }))
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => comment(db, writer, commentsOfEach)))
    for (const { class: name, property, from, to, reason } of splits)
      print(`${name}.${property}: from ${from} to ${to} companion records, because of ${reason}`)

    const { comments } = await db.session().load(Post, 'hello')
    print(`${await comments.count()} comments, and ${WRITERS} were taken back`)
    const page = await comments.page({ count: 3 })
    print(`The first: ${page.map(({ text }) => text).join(', ')}`)

    await comments.merge()
    print(`Back in one record: ${await comments.count()} comments`)
  } finally {
    unsubscribe('skein:split', note)
    await db.close()
  }
}

/** Writes comments one after another, and takes the first one back at the end. */
async function comment(db: Database, writer: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await db.withSession((session) => {
      const made = session.create(Comment, { id: `${writer}-${i}`, text: `comment ${i} of ${writer}` })
      made.post.set('hello')
    })
  await db.session().delete(Comment, `${writer}-0`)
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
