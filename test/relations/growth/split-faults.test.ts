import { expect } from 'chai'
import type { Database } from 'skein'
import { GROWING_CLASSES, Post, Reader, make } from './growing-models.js'
import { testSplitFaults } from './split-course.js'

const READERS = Array.from({ length: 14 }, (_, i) => `r${i}`)

const readers = (db: Database, id: string) => db.session().at(Post, id).collection('readers')

testSplitFaults({
  title: 'a split',
  classes: GROWING_CLASSES,
  owner: Post,
  set: 'gpost',
  courses: [
    { from: -1, to: 3 },
    { from: 2, to: 4 },
    { from: 3, to: 2 },
    { from: 2, to: -1 },
  ],
  every: 2,
  begin: (db) =>
    db.withSession((session) => {
      for (const id of [...READERS, 'new']) session.persist(make(Reader, { id }))
    }),
  prepare: async (db, id) => {
    await db.session().save(make(Post, { id }))
    await db.withSession((session) => {
      session
        .at(Post, id)
        .collection('readers')
        .add(...READERS)
    })
  },
  split: (db, id, shards) => (shards < 0 ? readers(db, id).merge() : readers(db, id).shard(shards)),
  shown: async (db, id) => {
    const keys = await readers(db, id).keys()
    expect(await readers(db, id).count()).to.equal(keys.length)
    return keys
  },
  before: [...READERS].sort(),
  change: async (fresh, db, id) => {
    await fresh.withSession((session) => {
      const changed = session.at(Post, id).collection('readers')
      changed.remove('r3', 'r8')
      changed.add('new', 'r8')
    })
    await db.withSession((session) => void session.at(Post, id).collection('readers').remove('r5'))
  },
  after: [...READERS, 'new'].filter((each) => each !== 'r3' && each !== 'r5').sort(),
})
