import { expect } from 'chai'
import { EntityGoneError, type Database } from 'skein'
import { testArchiveFaults, type From } from './archive-course.js'
import { ALONG, idsIn, remark, SETS, topicIn, Visitor, type Topic } from './archive-growing-models.js'

const { Topic: Archived, all } = topicIn('cold')
type Name = (typeof ALONG)[number]

const shown = async (db: Database, from?: From): Promise<unknown> => {
  const topic = await db.session().load<Topic>(Archived, 1, { with: ALONG, ...(from && { from }) })
  return [topic.title, topic.remarkCount, ...idsIn(topic)]
}
const split = async (db: Database, shards: number, names: readonly Name[] = ALONG): Promise<void> => {
  for (const name of names) {
    const members = db.session().at<Topic>(Archived, 1).collection(name)
    await (shards < 0 ? members.merge() : members.shard(shards))
  }
}
const store = (db: Database): Promise<unknown> =>
  db.withSession((session) => {
    const topic = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
    topic.remarks.add(...['a', 'b', 'c', 'd'].map((id) => remark(id)))
    for (const id of [1, 2]) topic.visitors.add(session.create(Visitor, { id }))
    topic.likes.link(1, { stars: 1.5 })
  })
const change = async (db: Database): Promise<void> => {
  const session = db.session()
  const topic = await session.load<Topic>(Archived, 1)
  topic.remarks.add(remark('e'))
  topic.remarks.remove('b')
  topic.visitors.remove(1)
  topic.likes.link(2, { stars: 2 })
  await session.flush()
  await split(db, 3)
}

const ALL = ['t', 4, ['a', 'b', 'c', 'd'], [1, 2], [1]]
const CHANGED = ['t', 4, ['a', 'c', 'd', 'e'], [2], [1, 2]]

testArchiveFaults(
  {
    title: 'archives of collections that are sharded on demand',
    classes: all,
    owner: Archived,
    sets: SETS,
    states: [
      { title: 'in the record', store },
      { title: 'in companions', store: (db) => store(db).then(() => split(db, 2)) },
    ],
    shown,
    all: ALL,
    change,
    changed: CHANGED,
  },
  ({ server, mode, store: storeAnew, countIn }) => {
    it('are deleted in both places after a fault on the way back, wherever their members have moved since', async () => {
      await server.disturb({
        prepare: async (db) => {
          await storeAnew(db, 1)
          await db.session().archive(Archived, 1)
        },
        work: (db) => db.session().unarchive(Archived, 1),
        isLearning: true,
        check: async (db, _error, where) => {
          // A record that is still closed takes no splits.
          await split(db, -1).catch((error: unknown) => expect(error).to.be.instanceOf(EntityGoneError))
          const isCopied = (await db.session().find(Archived, 1, { from: 'archive' })) !== null
          if (!(await db.session().delete(Archived, 1))) return
          // Nothing leads to companions that are left without the copy of their owner: verify finds them.
          if (!isCopied)
            for await (const { kind } of db.verify(Archived, { settle: 0, repair: true, from: 'archive' }))
              expect(kind, where).to.equal('companionWithoutRoot')
          expect([await countIn(db, mode), await countIn(db, 'cold')], where).to.deep.equal([0, 0])
        },
      })
    })

    for (const [from, to, name] of [
      [-1, 2, 'remarks'],
      [2, 3, 'visitors'],
      [2, -1, 'likes'],
    ] as const)
      it(`take ${name} along whose split from ${from} to ${to} was cut off`, async () => {
        await server.disturb({
          prepare: (db) => storeAnew(db, from < 0 ? 0 : 1),
          work: (db) => split(db, to, [name]),
          isLearning: true,
          check: async (db, _error, where) => {
            expect(await db.session().archive(Archived, 1), where).to.equal(true)
            expect(await shown(db, 'archive'), where).to.deep.equal(ALL)
            expect(await countIn(db, mode), where).to.equal(0)
            await db.session().unarchive(Archived, 1)
            await change(db)
            expect(await shown(db), where).to.deep.equal(CHANGED)
          },
        })
      })
  },
)
