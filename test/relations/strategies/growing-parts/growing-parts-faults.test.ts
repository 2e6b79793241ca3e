import { expect } from 'chai'
import type { Database } from 'skein'
import { ALL_FAULTS } from '../../../faults/faults.js'
import { GROWING_PART_CLASSES, Match, Writer, match, score, scoredBy } from './growing-part-models.js'
import { testSplitFaults } from '../../growth/split-course.js'

const PLAYERS = Array.from({ length: 10 }, (_, i) => i)
const BEFORE = PLAYERS.map((player) => [player, 100 - player]).reverse()

const scores = (db: Database, id: string) => db.session().at(Match, id).collection('scores')

testSplitFaults({
  title: 'a split of consolidated children',
  classes: GROWING_PART_CLASSES,
  owner: Match,
  set: 'gpmatch',
  courses: [{ from: -1, to: 3 }, { from: 2, to: 3 }, ...(ALL_FAULTS ? [{ from: 3, to: 2 }] : []), { from: 2, to: -1 }],
  every: 3,
  begin: async (db) => {
    await db.indexes.sync()
    await db.withSession((session) => {
      for (const id of [0, 1, 2, 7]) session.create(Writer, { id })
    })
  },
  prepare: (db, id) =>
    db.session().save(match(id, ...PLAYERS.map((player) => score(player, 100 - player, `name ${player}`, player % 3)))),
  split: (db, id, shards) => (shards < 0 ? scores(db, id).merge() : scores(db, id).shard(shards)),
  shown: async (db, id) => {
    const asked = scores(db, id)
    const all = (await asked.page({ count: 100 })).map(({ player, points }) => [player, points])
    const { scores: loaded, scoreCount } = await db.session().load(Match, id, { with: ['scores'] })
    expect(loaded.items.map(({ player, points }) => [player, points])).to.deep.equal(all)
    expect([await asked.count(), scoreCount]).to.deep.equal([all.length, all.length])
    for (const writer of [0, 1, 2, 7]) {
      const isPointing = loaded.items.some(({ author }) => author.key === writer)
      expect((await scoredBy(db, Match, writer)).includes(id), `writer ${writer}`).to.equal(isPointing)
    }
    expect(await asked.by('named').count()).to.equal(all.length)
    return all
  },
  before: BEFORE,
  change: async (fresh, db, id) => {
    await fresh.withSession(async (session) => {
      const { scores: own } = await session.load(Match, id)
      own.remove(3)
      own.add(score(8, 500, 'again'), score(77, 1, 'new', 7))
      const changed = (await own.get(5))!
      changed.points = 300
      changed.name = 'changed'
      changed.author.set(1)
    })
    await db.withSession((session) => void session.at(Match, id).collection('scores').remove(6))
  },
  after: [[77, 1], ...BEFORE.filter(([player]) => ![3, 5, 6, 8].includes(player)), [5, 300], [8, 500]],
})
