import { expect } from 'chai'
import { VersionConflictError, type Database, type Finding } from 'skein'
import { ALL_FAULTS } from '../../../faults/faults.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { forAll, untilDone } from '../../growth/during-splits.js'
import { GROWING_PART_CLASSES, Thread, remark, score, thread } from './growing-part-models.js'

/** A thousand changes where all faults are asked for. */
const PLAYERS = ALL_FAULTS ? 100 : 50
const CHANGES = 10

for (const mode of MODES) {
  describe(`a split of consolidated children beside others (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    let other: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_PART_CLASSES, (opened) => ({ server, namespace } = opened))
    before(async () => {
      // As patient as a database is by default: one split after another holds the records that are written.
      const options = { namespace, entities: GROWING_PART_CLASSES, retry: { attempts: Infinity, deadline: 30_000 } }
      ;[db, other] = await Promise.all([server.open(options), server.open(options)])
    })
    after(() => Promise.all([db?.close(), other?.close()]))

    const verified = async (): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(Thread, { settle: 0 })) found.push(finding)
      return found.map(({ message }) => message)
    }
    const scores = (of: Database) => of.session().at(Thread, 't').collection('scores')

    /** Splits, splits again and merges until the work is over. */
    const splitting = async (of: Database, property: 'scores' | 'remarks', isOver: () => boolean): Promise<void> => {
      for (let i = 0; !isOver() || i < 4; i++) {
        const shards = [4, 9, 0, 2][i % 4]
        const collection = of.session().at(Thread, 't').collection(property)
        await (shards === 0 ? collection.merge() : collection.shard(shards))
      }
    }

    it('loses no child, keeps none that was taken out, and shows each once, at its last place', async () => {
      const stays = Array.from({ length: 20 }, (_, i) => 1000 + i)
      const made = thread('t')
      made.scores.add(...stays.map((player) => score(player, player, 'stays')))
      await db.session().save(made)
      const expected = new Map(stays.map((player) => [player, player]))
      let isOver = false
      const changes = forAll(PLAYERS, async (player) => {
        const own = player % 2 === 0 ? db : other
        for (let step = 0; step < CHANGES; step++) {
          const points = Math.floor(Math.random() * 500)
          const isIn = Math.random() < 0.7
          await untilDone(() =>
            own.withSession((session) => {
              const collection = session.at(Thread, 't').collection('scores')
              if (isIn) collection.add(score(player, points, `p${points}`))
              else collection.remove(player)
            }),
          )
          if (isIn) expected.set(player, points)
          else expected.delete(player)
        }
      }).finally(() => (isOver = true))
      const looks = (async () => {
        while (!isOver) {
          const players = (await scores(other).page({ count: 1000 })).map(({ player }) => player)
          expect(new Set(players).size).to.equal(players.length)
          expect(stays.filter((player) => !players.includes(player))).to.deep.equal([])
          expect(await scores(db).contains(stays[7])).to.equal(true)
          expect((await scores(db).last(20)).map(({ player }) => player)).to.deep.equal(stays)
        }
      })()
      await Promise.all([changes, splitting(other, 'scores', () => isOver), looks])
      const found = (await scores(db).page({ count: 1000 })).map(({ player, points }) => [player, points])
      expect(found.map(([, points]) => points)).to.deep.equal([...expected.values()].sort((a, b) => a - b))
      expect(new Map(found as [number, number][])).to.deep.equal(expected)
      expect(await scores(other).count()).to.equal(expected.size)
      expect(await scores(other).by('named').count()).to.equal(expected.size)
      expect(await verified()).to.deep.equal([])
    })

    it('keeps every change of a loaded child, and every increment', async () => {
      const ids = Array.from({ length: 12 }, (_, i) => `r${i}`)
      await db.session().save(thread('t', ...ids.map((id) => remark(id, 'first', 1))))
      let isOver = false
      const changes = forAll(12, async (i) => {
        const own = i % 2 === 0 ? db : other
        const session = own.session()
        const { remarks } = await session.load(Thread, 't', { with: ['remarks'] })
        const mine = remarks.items.find(({ id }) => id === ids[i])!
        for (let step = 1; step <= CHANGES; step++) {
          mine.text = `text ${step}`
          mine.at = new Date(step)
          mine.likes += 1
          await untilDone(() => session.flush())
          await untilDone(() =>
            own.withSession((inner) => void inner.at(Thread, 't').child('remarks', 'r0').increment('likes', 10)),
          )
          expect(await own.session().at(Thread, 't').child('remarks', ids[i]).get('text')).to.equal(`text ${step}`)
        }
      }).finally(() => (isOver = true))
      await Promise.all([changes, splitting(db, 'remarks', () => isOver)])
      const { remarks } = await other.session().load(Thread, 't', { with: ['remarks'] })
      const shown = remarks.items.map(({ id, text, likes, at }) => [id, text, likes, at!.getTime()])
      const last = ids.map((id) => [id, `text ${CHANGES}`, CHANGES + (id === 'r0' ? 12 * CHANGES * 10 : 0), CHANGES])
      expect(shown).to.have.deep.members(last)
      expect(await verified()).to.deep.equal([])
    })

    it('leaves nothing of an owner that is deleted meanwhile', async () => {
      for (let round = 0; round < 6; round++) {
        const id = `d${round}`
        await db.session().save(thread(id, ...Array.from({ length: 12 }, (_, i) => remark(`r${i}`))))
        const split = other.session().at(Thread, id).collection('remarks').shard(3)
        const [, deleted] = await Promise.allSettled([split, db.session().delete(Thread, id)])
        if (deleted.status === 'rejected') {
          expect(deleted.reason).not.to.be.instanceOf(VersionConflictError)
          await db.session().delete(Thread, id)
        }
        for (const set of ['gpthread', 'gpthread_remarks']) {
          const records = await db.client.query(namespace, set).results()
          const left = records.filter(({ bins }) => (bins['_sk.root'] ?? bins.id) === id)
          expect(left.map(({ bins }) => bins)).to.deep.equal([])
        }
      }
    })
  })
}
