import { expect } from 'chai'
import { EntityGoneError, SkeinError, type Database } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'
import { ALONG, feedIn, idsIn, SETS, visit, Visitor, type Feed } from './archive-dated-models.js'

const ALL = [
  [1, 2],
  [2, 3],
  [1, 2, 3],
]

for (const mode of MODES) {
  describe(`archives of records with links by date (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const { Feed: Archived, all } = feedIn(cold)
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
    const load = (from?: 'archive' | 'any'): Promise<Feed> =>
      db.session().load<Feed>(Archived, 1, { with: ALONG, ...(from && { from }) })

    beforeEach(async () => {
      for (const set of SETS) await db.client.truncate(cold, set, 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession((session) => {
        const feed = session.persist(Object.assign(new Archived(), { id: 1, title: 't' }))
        for (const id of [1, 2, 3, 4]) session.create(Visitor, { id })
        feed.fans.add(1, 2)
        feed.pins.add(2, 3)
        for (const id of [1, 2, 3]) feed.guests.link(id, visit(id, id))
      })
    })

    it('take all buckets along, and bring them back as they were', async () => {
      const before = await countIn(namespace)
      expect(await db.session().archive(Archived, 1)).to.equal(true)
      expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([0, before])
      for (const from of ['archive', 'any'] as const) expect(idsIn(await load(from)), from).to.deep.equal(ALL)
      expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      expect(await db.session().unarchive(Archived, 1)).to.equal(true)
      expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([before, 0])
      const session = db.session()
      const feed = await session.load<Feed>(Archived, 1, { with: ALONG })
      expect([idsIn(feed), feed.fanCount]).to.deep.equal([ALL, 2])
      // The server takes changes of them as before, and numbers are of the type that they were.
      feed.fans.add(4)
      feed.pins.remove(3)
      feed.guests.unlink(1)
      feed.guests.link(4, visit(9, 1.5))
      const link = (await feed.guests.attributesOf(3))!
      link.stars = 2.5
      await session.flush()
      const again = await load()
      expect([idsIn(again), again.fanCount]).to.deep.equal([[[1, 2, 4], [2], [2, 3, 4]], 3])
      expect((await again.guests.attributesOf(3))?.stars).to.equal(2.5)
      const window = await again.guests.window({ from: visit(9).at, to: visit(10).at })
      expect(window.map(({ id }) => id)).to.deep.equal([4])
      expect(await findings()).to.deep.equal([])
    })

    it('refuse changes of sessions that have loaded the owner before', async () => {
      const changes: ((feed: Feed) => unknown)[] = [
        (feed) => feed.fans.add(4),
        (feed) => feed.fans.remove(1),
        (feed) => feed.pins.add(4),
        (feed) => feed.pins.remove(2),
        (feed) => feed.guests.link(4, visit(20)),
        (feed) => feed.guests.unlink(1),
        async (feed) => ((await feed.guests.attributesOf(2))!.stars = 9),
      ]
      const sessions = changes.map(() => db.session())
      const feeds = await Promise.all(sessions.map((each) => each.load<Feed>(Archived, 1, { with: ALONG })))
      for (const [i, change] of changes.entries()) await change(feeds[i])
      await db.session().archive(Archived, 1)
      for (const [i, session] of sessions.entries()) {
        const error = (await rejection(() => session.flush()).catch((reason: unknown) => reason)) as Error
        const isGone = [error, error.cause].some((each) => each instanceof EntityGoneError)
        expect(isGone, `${i}: ${String(error)}`).to.equal(true)
      }
      expect(await countIn(namespace)).to.equal(0)
      expect(idsIn(await load('archive'))).to.deep.equal(ALL)
    })

    if (mode === 'sc')
      it('refuse them in a transaction, too', async () => {
        await db.session().archive(Archived, 1)
        const changes: ((feed: ReturnType<typeof handle>) => unknown)[] = [
          (feed) => feed.collection('fans').add(4),
          (feed) => feed.collection('fans').remove(1),
          (feed) => feed.collection('guests').unlink(1),
        ]
        const handle = (session: ReturnType<Database['session']>) => session.at<Feed>(Archived, 1)
        for (const [i, change] of changes.entries()) {
          const error = (await rejection(() => db.transaction((session) => void change(handle(session))))) as Error
          const isGone = [error, error.cause].some((each) => each instanceof EntityGoneError)
          expect(isGone, `${i}: ${String(error)}`).to.equal(true)
        }
        expect(await countIn(namespace)).to.equal(0)
      })

    it('end with their owner', async () => {
      await db.session().archive(Archived, 1)
      await db.session().unarchive(Archived, 1)
      await db.session().delete(Archived, 1)
      expect([await countIn(namespace), await countIn(cold)]).to.deep.equal([0, 0])
    })

    it('lose nothing while others add, remove, archive and bring back', async () => {
      const added = new Set<number>()
      const removed = new Set<number>()
      const tolerate = (error: unknown): void => void expect(error).to.be.instanceOf(SkeinError)
      await db.withSession((session) => {
        for (let id = 10; id < 30; id++) session.create(Visitor, { id })
      })
      const change = async (first: number): Promise<void> => {
        for (let id = first; id < first + 8; id++) {
          const session = db.session()
          const feed = await session.find<Feed>(Archived, 1)
          if (feed === null) continue
          feed.guests.link(id, visit(id))
          await session.flush().then(() => added.add(id), tolerate)
          if (id % 3 !== 2 || !added.has(id)) continue
          const other = db.session()
          const again = await other.find<Feed>(Archived, 1)
          if (again === null) continue
          again.guests.unlink(id)
          await other.flush().then(() => removed.add(id), tolerate)
        }
      }
      const move = async (): Promise<void> => {
        for (let i = 0; i < 4; i++) {
          await db.session().archive(Archived, 1).catch(tolerate)
          await db.session().unarchive(Archived, 1).catch(tolerate)
        }
      }
      await Promise.all([change(10), change(20), move(), move()])
      await db.session().unarchive(Archived, 1)
      const left = await load()
      const ids = new Set(left.guests.items.map(({ id }) => id))
      for (const id of added) expect(ids.has(id), String(id)).to.equal(!removed.has(id))
      expect(idsIn(left).slice(0, 2)).to.deep.equal(ALL.slice(0, 2))
      await db.session().archive(Archived, 1)
      await db.session().unarchive(Archived, 1)
      expect(idsIn(await load())).to.deep.equal(idsIn(left))
      expect(await findings()).to.deep.equal([])
    })
  })
}
