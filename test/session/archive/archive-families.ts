import type { Database, EntityClass } from 'skein'
import { ALONG, comment, idsIn, postIn, Reader, type Post } from './archive-companion-models.js'
import * as dated from './archive-dated-models.js'
import * as growing from './archive-growing-models.js'
import * as linked from './archive-link-record-models.js'

/** Records of one class that several movers move, with what belongs to them. */
export interface MovedFamily {
  readonly title: string
  readonly all: readonly EntityClass[]
  readonly type: EntityClass<{ id: number; title?: string }>
  /** Commands between two late ones, because each takes several more moves. */
  readonly every: number
  readonly store: (db: Database, id: number) => Promise<unknown>
  /** Another change of what belongs to a record that leaves it as it is shown. */
  readonly change?: (db: Database, id: number) => Promise<unknown>
  /** The title, and all that belongs to the record. */
  readonly shown: (db: Database, id: number, from?: 'any') => Promise<readonly unknown[] | null>
  readonly expected: (id: number) => readonly unknown[]
}

export const movedFamilies = (archive: string): readonly MovedFamily[] => [
  posts(archive),
  topics(archive),
  feeds(archive),
  people(archive),
]

/** Posts with companions. */
function posts(archive: string): MovedFamily {
  const { Post: type, all } = postIn(archive)
  return {
    title: 'its companions',
    all,
    type,
    every: 7,
    store: async (db, id) => {
      await db.withSession((session) => {
        const post = session.persist(Object.assign(new type(), { id, title: 'first' }))
        post.comments.add(comment('a'), comment('b', 1))
        post.dated.add(comment('x', 1))
        post.readers.add(session.create(Reader, { id }))
      })
      await db.withSession((session) => session.at<Post>(type, id).counter('views').add(3))
    },
    shown: async (db, id, from) => {
      const post = await db.session().find<Post>(type, id, { with: ALONG, from })
      return post && [post.title, post.views, post.commentCount, idsIn(post)]
    },
    expected: (id) => [3, 2, [['a', 'b'], [], ['x'], [id]]],
  }
}

/** Topics whose members are split and merged meanwhile. */
function topics(archive: string): MovedFamily {
  const { Topic: type, all } = growing.topicIn(archive)
  const members = (db: Database, id: number, name: (typeof growing.ALONG)[number]) =>
    db.session().at<growing.Topic>(type, id).collection(name)
  return {
    title: 'members that others split meanwhile',
    all,
    type,
    every: 5,
    store: async (db, id) => {
      await db.withSession((session) => {
        const topic = session.persist(Object.assign(new type(), { id, title: 'first' }))
        topic.remarks.add(...['a', 'b', 'c'].map((each) => growing.remark(each)))
        topic.visitors.add(session.create(growing.Visitor, { id }))
        topic.likes.link(id, { stars: 1.5 })
      })
      for (const name of ['remarks', 'visitors'] as const) await members(db, id, name).shard(2)
    },
    change: async (db, id) => {
      const merged = members(db, id, 'visitors').merge()
      await Promise.all([
        members(db, id, 'remarks').shard(3),
        merged.then(() => members(db, id, 'visitors').shard(2)),
        members(db, id, 'likes').shard(2),
      ])
    },
    shown: async (db, id, from) => {
      const topic = await db.session().find<growing.Topic>(type, id, { with: growing.ALONG, from })
      return topic && [topic.title, topic.remarkCount, growing.idsIn(topic)]
    },
    expected: (id) => [3, [['a', 'b', 'c'], [id], [id]]],
  }
}

/** Feeds whose links are made again with other dates meanwhile. */
function feeds(archive: string): MovedFamily {
  const { Feed: type, all } = dated.feedIn(archive)
  return {
    title: 'links by date',
    all,
    type,
    every: 5,
    store: (db, id) =>
      db.withSession((session) => {
        const feed = session.persist(Object.assign(new type(), { id, title: 'first' }))
        feed.fans.add(session.create(dated.Visitor, { id }))
        feed.pins.add(id)
        feed.guests.link(id, dated.visit(1))
      }),
    change: (db, id) =>
      db.withSession(async (session) => {
        const feed = await session.load<dated.Feed>(type, id)
        feed.guests.unlink(id)
        feed.guests.link(id, dated.visit(9))
      }),
    shown: async (db, id, from) => {
      const feed = await db.session().find<dated.Feed>(type, id, { with: dated.ALONG, from })
      return feed && [feed.title, feed.fanCount, dated.idsIn(feed)]
    },
    expected: (id) => [1, [[id], [id], [id]]],
  }
}

/** People whose link records are made again meanwhile. */
function people(archive: string): MovedFamily {
  const { Person: type, Paper, all } = linked.peopleIn(archive)
  return {
    title: 'its link records',
    all,
    type,
    every: 2,
    store: (db, id) =>
      db.withSession((session) => {
        const person = session.create(type, { id, title: 'first' })
        person.papers.link(session.create(Paper, { id }), { role: 'reader' })
      }),
    change: (db, id) =>
      db.withSession(async (session) => void (await session.load(Paper, id)).people.link(id, { role: 'writer' })),
    shown: async (db, id, from) => {
      const person = await db.session().find<linked.Person>(type, id, { with: linked.LINKS, from })
      return person && [person.title, linked.linksOf(person)]
    },
    expected: (id) => [[[], [], [id]]],
  }
}
