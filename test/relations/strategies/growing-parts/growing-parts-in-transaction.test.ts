import { expect } from 'chai'
import type { Database, Finding } from 'skein'
import { told } from '../../growth/during-splits.js'
import { Board, GROWING_PART_CLASSES, Thread, Writer, remark, score, thread } from './growing-part-models.js'
import { COURSES, testSplitsAtOnce } from '../../growth/split-at-once.js'

const PLAYERS = Array.from({ length: 10 }, (_, i) => i)
const SHOWN = [...PLAYERS].reverse()

const scores = (of: Database, id: string) => of.session().at(Thread, id).collection('scores')

describe('a split of consolidated children in a namespace with transactions', function () {
  this.timeout(60_000)
  const opened = testSplitsAtOnce({
    entities: GROWING_PART_CLASSES,
    set: 'gpthread_scores',
    of: scores,
    store: (db, id) => {
      const made = thread(id)
      made.scores.add(...PLAYERS.map((player) => score(player, 100 - player, `name ${player}`)))
      return db.session().save(made)
    },
    shown: async (of, id) => (await scores(of, id).page({ count: 100 })).map(({ player }) => player),
    expected: SHOWN,
    lateCommits: COURSES.slice(1, 3),
    check: async ({ db, other }, id) => {
      const named = await scores(other, id).by('named').page({ count: 100 })
      expect(named.map(({ player }) => player)).to.deep.equal(PLAYERS)
      expect(await scores(other, id).get(3)).to.deep.include({ points: 97, name: 'name 3' })
      const found: Finding[] = []
      for await (const finding of db.verify(Thread, { settle: 0 })) found.push(finding)
      expect(found).to.deep.equal([])
    },
  })

  it('comes first where a flush that adds children of new entities finds the record full', async () => {
    const { db, other } = opened()
    const add = (of: readonly number[]): Promise<unknown> =>
      db.withSession(async (session) => {
        const { notes } = await session.load(Board, 'b')
        for (const i of of) {
          const note = remark(`n${i}`, 'x'.repeat(100_000))
          note.author.set(session.persist(Object.assign(new Writer(), { id: i })))
          notes.add(note)
        }
      })
    await db.session().save(Object.assign(new Board(), { id: 'b' }))
    const { splits } = await told(async () => {
      await add([0, 1, 2, 3])
      await add([4, 5, 6, 7])
      await add([8, 9, 10, 11])
    })
    expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction tooLarge'])
    expect(await other.session().at(Board, 'b').collection('notes').count()).to.equal(12)
  })
})
