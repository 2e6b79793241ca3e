import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { forAll, untilDone } from '../growth/during-splits.js'
import { GROWING_PART_CLASSES, Match, match, score } from '../strategies/growing-parts/growing-part-models.js'

const players = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i)

for (const mode of MODES) {
  describe(`counts of consolidated children that are split on demand (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_PART_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const scores = (id = 'm') => db.session().at(Match, id).collection('scores')
    const move = (to: number): Promise<void> => (to < 0 ? scores().merge() : scores().shard(to))
    const count = async (id = 'm'): Promise<number> => (await db.session().load(Match, id)).scoreCount
    const add = (...added: number[]): Promise<unknown> =>
      db.withSession((session) => {
        session
          .at(Match, 'm')
          .collection('scores')
          .add(...added.map((player) => score(player, player)))
      })
    const remove = (...removed: number[]): Promise<unknown> =>
      db.withSession(
        (session) =>
          void session
            .at(Match, 'm')
            .collection('scores')
            .remove(...removed),
      )
    const verify = async (repair = false): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, property, state } of db.verify(Match, { repair, settle: 0 }))
        found.push(`${kind} ${property} ${state}`)
      return found
    }

    it('are kept before a split, after it, after another one, and when all is merged', async () => {
      await db.session().save(match('m', ...players(7).map((player) => score(player, player))))
      expect(await count()).to.equal(7)
      for (const to of [-1, 3, 5, 2, -1]) {
        await move(to)
        expect(await count(), `${to}`).to.equal(7)
        await add(0, 6, 50, 51)
        await remove(50, 99)
        expect(await count(), `${to}`).to.equal(8)
        await db.withSession(async (session) => {
          const { scores: own } = await session.load(Match, 'm', { with: ['scores'] })
          own.items[3].points = 1000
          own.remove(51)
          own.add(score(60, 1), score(2, 17))
        })
        expect(await count(), `${to}`).to.equal(8)
        await remove(60)
        expect(await count(), `${to}`).to.equal(7)
        expect(await scores().count()).to.equal(7)
        expect(await verify()).to.deep.equal([])
      }
    })

    it('follow children from one owner to another, wherever both keep them, and an owner that is upserted', async () => {
      await db.session().save(match('n', score(90, 1)))
      await db.session().save(match('m', ...players(6).map((player) => score(player, player))))
      for (const [i, to] of [-1, 3].entries()) {
        await move(to)
        await db.withSession(async (session) => {
          const [from, other] = await session.loadMany(Match, ['m', 'n'], { with: ['scores'] })
          const moved = from.scores.items[0]
          from.scores.remove(moved)
          other.scores.add(moved)
        })
        expect([await count('m'), await count('n')]).to.deep.equal([5 - i, 2 + i])
        await db.session().upsert(match('m', score(5, 9), score(70 + i, 3)))
        expect(await count()).to.equal(6 - i)
        await remove(70 + i)
      }
      expect(await verify()).to.deep.equal([])
    })

    it('take no command more while children are in the record of their owner, and one once they are split', async () => {
      await db.session().save(match('fresh', score(1, 1)))
      const addOne = (player: number): Promise<unknown> =>
        db.withSession((session) => void session.at(Match, 'fresh').collection('scores').add(score(player, player)))
      // Children to be replaced are read first, because an index lists what it points to; twice where a transaction may be needed.
      expect((await server.commands.during(() => addOne(2))).rows).to.equal(mode === 'ap' ? 2 : 3)
      await scores('fresh').shard(3)
      if (mode === 'ap') expect((await server.commands.during(() => addOne(3))).rows).to.equal(2 + 2)
      else await addOne(3)
      expect(await count('fresh')).to.equal(3)
    })

    it('are exact after many have added and removed while the children are split and merged', async function () {
      this.timeout(60_000)
      const retry = { attempts: Infinity, deadline: 30_000 }
      const patient = await server.open({ namespace, entities: GROWING_PART_CLASSES, retry })
      const change = (work: (own: ReturnType<typeof scores>) => void): Promise<unknown> =>
        untilDone(() => patient.withSession((session) => work(session.at(Match, 'm').collection('scores'))))
      await db.session().save(match('m', ...players(10, 100).map((player) => score(player, player))))
      let isOver = false
      const moves = (async () => {
        for (let i = 0; !isOver; i++) await move([3, 2, -1, 4][i % 4])
      })()
      // Each change is a transaction with the owner there, and few can meet at once.
      const writers = forAll(mode === 'ap' ? 16 : 2, async (i) => {
        for (let turn = 0; turn < 3; turn++) {
          await change((own) => void own.add(score(i, turn)))
          if ((turn + i) % 2 === 0) await change((own) => void own.remove(i))
        }
      }).finally(() => (isOver = true))
      await Promise.all([moves, writers])
      await patient.close()
      expect(await count()).to.equal(await scores().count())
      expect(await verify()).to.deep.equal([])
    })

    it('are found and put right by verify, wherever the children are', async () => {
      await db.session().save(match('m', score(1, 1), score(2, 2)))
      for (const to of [-1, 2]) {
        await move(to)
        await db.client.put({ ns: namespace, set: 'gpmatch', key: 'm' }, { scoreCount: 7 })
        expect(await verify()).to.deep.equal(['wrongCount scoreCount found'])
        expect(await verify(true)).to.deep.equal(['wrongCount scoreCount repaired'])
        expect(await count()).to.equal(2)
      }
    })
  })
}
