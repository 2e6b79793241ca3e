import type { Database } from 'skein'
import { testArchiveFaults, type From } from './archive-course.js'
import { ALONG, feedIn, idsIn, SETS, visit, Visitor, type Feed } from './archive-dated-models.js'

const { Feed: Archived, all } = feedIn('cold')

const shown = async (db: Database, from?: From): Promise<unknown> => {
  const feed = await db.session().load<Feed>(Archived, 1, { with: ALONG, ...(from && { from }) })
  return [feed.title, feed.fanCount, ...idsIn(feed)]
}

testArchiveFaults({
  title: 'archives of links by date',
  classes: all,
  owner: Archived,
  sets: SETS,
  states: [
    {
      title: '',
      store: (db) =>
        db.withSession((session) => {
          const feed = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
          for (const id of [1, 2]) feed.fans.add(session.create(Visitor, { id }))
          feed.pins.add(1)
          for (const id of [1, 2]) feed.guests.link(id, visit(id))
        }),
    },
  ],
  shown,
  all: ['t', 2, [1, 2], [1], [1, 2]],
  change: async (db) => {
    const session = db.session()
    const feed = await session.load<Feed>(Archived, 1)
    feed.fans.remove(1)
    feed.pins.add(2)
    feed.guests.unlink(1)
    feed.guests.link(1, visit(9))
    await session.flush()
  },
  changed: ['t', 1, [2], [1, 2], [1, 2]],
})
