import { expect } from 'chai'
import type { Database } from 'skein'
import { ALL_FAULTS } from '../faults/faults.js'
import { GROWING_PART_CLASSES, Thread, score, thread } from './growing-part-models.js'
import { testSplitFaults } from './split-course.js'

const PLAYERS = Array.from({ length: 10 }, (_, i) => i)
const BEFORE = PLAYERS.map((player) => [player, 100 - player]).reverse()

const scores = (db: Database, id: string) => db.session().at(Thread, id).collection('scores')

testSplitFaults({
  title: 'a split of consolidated children',
  classes: GROWING_PART_CLASSES,
  owner: Thread,
  set: 'gpthread',
  courses: [{ from: -1, to: 3 }, { from: 2, to: 3 }, ...(ALL_FAULTS ? [{ from: 3, to: 2 }] : []), { from: 2, to: -1 }],
  every: 3,
  prepare: (db, id) => {
    const made = thread(id)
    made.scores.add(...PLAYERS.map((player) => score(player, 100 - player, `name ${player}`)))
    return db.session().save(made)
  },
  split: (db, id, shards) => (shards < 0 ? scores(db, id).merge() : scores(db, id).shard(shards)),
  shown: async (db, id) => {
    const asked = scores(db, id)
    const all = (await asked.page({ count: 100 })).map(({ player, points }) => [player, points])
    const { scores: loaded } = await db.session().load(Thread, id, { with: ['scores'] })
    expect(loaded.items.map(({ player, points }) => [player, points])).to.deep.equal(all)
    expect(await asked.count()).to.equal(all.length)
    expect(await asked.by('named').count()).to.equal(all.length)
    return all
  },
  before: BEFORE,
  change: async (fresh, db, id) => {
    await fresh.withSession(async (session) => {
      const { scores: own } = await session.load(Thread, id)
      own.remove(3)
      own.add(score(8, 500, 'again'), score(77, 1, 'new'))
      const changed = (await own.get(5))!
      changed.points = 300
      changed.name = 'changed'
    })
    await db.withSession((session) => void session.at(Thread, id).collection('scores').remove(6))
  },
  after: [[77, 1], ...BEFORE.filter(([player]) => ![3, 5, 6, 8].includes(player)), [5, 300], [8, 500]],
})
