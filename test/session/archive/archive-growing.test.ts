import { expect } from 'chai'
import { EntityGoneError, SkeinError, type Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import { ALONG, idsIn, remark, Visitor, SETS, topicIn, type Topic } from './archive-growing-models.js'

/** Places of the members of all three collections: -1 is the owner's own record. */
const PLACES = [-1, 2]
const ALL = [
  ['a', 'b', 'c', 'd'],
  [1, 2, 3],
  [1, 2],
]

for (const mode of MODES) {
  describe(`archives of records with collections that are sharded on demand (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const { Topic: Archived, all } = topicIn(cold)
    let db: Database
    let namespace: string
    useDatabase(mode, all, (opened) => ({ db, namespace } = opened))

    const countIn = async (where: string): Promise<number> => {
      const counts = await Promise.all(SETS.map(async (set) => (await db.client.query(where, set).results()).length))
      return counts.reduce((sum, each) => sum + each)
    }
    const findings = async (from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(Archived, { settle: 0, ...(from && { from }) })) found.push(message)
      return found
    }
    const load = (from?: 'archive' | 'any'): Promise<Topic> =>
      db.session().load<Topic>(Archived, 1, { with: ALONG, ...(from && { from }) })
    const place = async (shards: number): Promise<void> => {
      for (const name of ALONG) {
        const members = db.session().at<Topic>(Archived, 1).collection(name)
        await (shards < 0 ? members.merge() : members.shard(shards))
      }
    }
    const shown = (topic: Topic): unknown => [
      idsIn(topic),
      topic.remarkCount,
      topic.remarks.items.find(({ id }) => id === 'a')?.by.key,
    ]

    beforeEach(async () => {
      for (const set of SETS) await db.client.truncate(cold, set, 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession((session) => {
        const topic = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
        session.create(Visitor, { id: 4 })
        for (const id of [1, 2, 3]) topic.visitors.add(session.create(Visitor, { id }))
        topic.remarks.add(...['a', 'b', 'c', 'd'].map((id, weight) => remark(id, weight)))
        topic.remarks.items[0].by.set(1)
        for (const id of [1, 2]) topic.likes.link(id, { stars: id })
      })
    })

    for (const shards of PLACES) {
      const where = shards < 0 ? 'in the record' : 'in companions'

      it(`take members along that are ${where}, and bring them back as they were`, async () => {
        if (shards >= 0) await place(shards)
        const before = await countIn(namespace)
        expect(await db.session().archive(Archived, 1)).to.equal(true)
        expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([0, before])
        for (const from of ['archive', 'any'] as const) expect(shown(await load(from)), from).to.deep.equal([ALL, 4, 1])
        expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
        expect(await db.session().unarchive(Archived, 1)).to.equal(true)
        expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([before, 0])
        expect(shown(await load())).to.deep.equal([ALL, 4, 1])
        expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      })

      it(`take changes and splits again once they are back, ${where}`, async () => {
        if (shards >= 0) await place(shards)
        await db.session().archive(Archived, 1)
        await db.session().unarchive(Archived, 1)
        const session = db.session()
        const topic = await session.load<Topic>(Archived, 1, { with: ALONG })
        // The server takes changes of them as before, and numbers are of the type that they were.
        topic.remarks.items.find(({ id }) => id === 'a')!.weight = 2.5
        topic.remarks.add(remark('e'))
        topic.remarks.remove('b')
        topic.visitors.remove(1)
        topic.likes.unlink(2)
        topic.likes.link(3, { stars: 1.5 })
        await session.flush()
        await place(3)
        const again = await load()
        expect(idsIn(again)).to.deep.equal([
          ['a', 'c', 'd', 'e'],
          [2, 3],
          [1, 3],
        ])
        expect([again.remarkCount, (await again.remarks.get('a'))?.weight]).to.deep.equal([4, 2.5])
        expect(await findings()).to.deep.equal([])
        const pointing: number[] = []
        for await (const { id } of db.session().pointingTo<Topic>(Archived, 'remarks.by', 1)) pointing.push(id)
        expect(pointing).to.deep.equal([1])
      })

      it(`refuse changes of sessions that have loaded the owner before, ${where}`, async () => {
        if (shards >= 0) await place(shards)
        const changes: ((topic: Topic) => unknown)[] = [
          (topic) => topic.remarks.add(remark('late')),
          (topic) => topic.remarks.remove('b'),
          (topic) => (topic.remarks.items[1].weight = 7),
          (topic) => topic.visitors.add(4),
          (topic) => topic.visitors.remove(2),
          (topic) => topic.likes.link(3, { stars: 1 }),
          (topic) => topic.likes.unlink(1),
        ]
        const sessions = changes.map(() => db.session())
        const topics = await Promise.all(sessions.map((each) => each.load<Topic>(Archived, 1, { with: ALONG })))
        await db.session().archive(Archived, 1)
        for (const [i, change] of changes.entries()) {
          change(topics[i])
          const error = (await rejection(() => sessions[i].flush()).catch((reason: unknown) => reason)) as Error
          const isGone = [error, error.cause].some((each) => each instanceof EntityGoneError)
          expect(isGone, `${i}: ${String(error)}`).to.equal(true)
        }
        expect(await countIn(namespace)).to.equal(0)
        expect(shown(await load('archive'))).to.deep.equal([ALL, 4, 1])
      })

      it(`end with their owner, ${where}`, async () => {
        if (shards >= 0) await place(shards)
        await db.session().archive(Archived, 1)
        await db.session().unarchive(Archived, 1)
        await db.session().delete(Archived, 1)
        expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([0, 0])
      })
    }

    it('cannot be split while they are archived', async () => {
      await db.session().archive(Archived, 1)
      const split = (): Promise<unknown> => db.session().at<Topic>(Archived, 1).collection('remarks').shard(2)
      expect(await rejection(split)).to.be.instanceOf(EntityGoneError)
    })

    it('leave nothing of an earlier copy whose members were in more records', async () => {
      await place(3)
      await db.session().archive(Archived, 1)
      await db.session().unarchive(Archived, 1)
      await place(-1)
      await db.session().archive(Archived, 1)
      expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([0, 1])
      expect(shown(await load('archive'))).to.deep.equal([ALL, 4, 1])
    })

    it('lose nothing while others add, remove, split, archive and bring back', async () => {
      const added = new Set<string>()
      const removed = new Set<string>()
      const tolerate = (error: unknown): void => void expect(error).to.be.instanceOf(SkeinError)
      const change = async (who: string): Promise<void> => {
        for (let i = 0; i < 8; i++) {
          const id = `${who}${i}`
          const session = db.session()
          const topic = await session.find<Topic>(Archived, 1)
          if (topic === null) continue
          topic.remarks.add(remark(id))
          await session.flush().then(() => added.add(id), tolerate)
          if (i % 3 !== 2 || !added.has(id)) continue
          const other = db.session()
          const again = await other.find<Topic>(Archived, 1)
          if (again === null) continue
          again.remarks.remove(id)
          await other.flush().then(() => removed.add(id), tolerate)
        }
      }
      const move = async (): Promise<void> => {
        for (let i = 0; i < 4; i++) {
          await db.session().archive(Archived, 1).catch(tolerate)
          await db.session().unarchive(Archived, 1).catch(tolerate)
        }
      }
      const split = async (): Promise<void> => {
        for (const shards of [2, 3, -1, 2, -1]) await place(shards).catch(tolerate)
      }
      await Promise.all([change('p'), change('q'), move(), move(), split()])
      await db.session().unarchive(Archived, 1)
      const left = await load()
      const ids = new Set(left.remarks.items.map(({ id }) => id))
      for (const id of ['a', 'b', 'c', 'd']) expect(ids.has(id), id).to.equal(true)
      for (const id of added) expect(ids.has(id), id).to.equal(!removed.has(id))
      expect(idsIn(left).slice(1)).to.deep.equal(ALL.slice(1))
      await db.session().archive(Archived, 1)
      await db.session().unarchive(Archived, 1)
      expect(idsIn(await load())).to.deep.equal(idsIn(left))
      // Without transactions a flush that was refused half-way may have counted, or not, what it says it has not written.
      for await (const { kind, message } of db.verify(Archived, { settle: 0, repair: true }))
        expect(kind, message).to.equal('wrongCount')
      expect(await findings()).to.deep.equal([])
    })
  })
}
