import { expect } from 'chai'
import { VersionConflictError, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { Account, Board, payment, score } from './consolidate-models.js'

const players = (scores: Iterable<{ player: string }>): string[] => [...scores].map(({ player }) => player)

for (const mode of MODES) {
  describe(`consolidated children with a sort key (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, [Board, Account], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      const session = db.session()
      const board = session.create(Board, { id: 'b' })
      board.scores.add(score('cy', 30), score('al', -5), score('bo', 200), score('di', 30))
      await session.flush()
    })

    const board = (): Promise<Board> => db.session().load(Board, 'b')
    /** The stored maps as they are, so that neither hides what the other lacks. */
    const stored = async (): Promise<{ scores: object; ids: object }> => {
      const { bins } = (await db.client.get({ ns: namespace, set: 'board', key: 'b' })) as { bins: never }
      return { scores: bins['scores'], ids: bins['scores.ids'] }
    }
    const check = async (...expected: string[]): Promise<void> => {
      const { scores, ids } = await stored()
      expect(Object.keys(ids).sort()).to.deep.equal([...expected].sort())
      expect(Object.keys(scores).sort()).to.deep.equal(Object.values(ids).sort())
    }

    it('are kept in that order, negative numbers first and equal ones by id', async () => {
      const { scores } = await board()
      expect(await scores.keys()).to.deep.equal(['al', 'cy', 'di', 'bo'])
      expect(players(await scores.last(2))).to.deep.equal(['di', 'bo'])
      expect(players(await scores.range({ from: 0, to: 100 }))).to.deep.equal(['cy', 'di'])
      expect(players(await scores.range({ from: [30, 'd'] }))).to.deep.equal(['di', 'bo'])
    })

    it('are found by their id in one command each', async () => {
      const one = async <T>(work: () => Promise<T>): Promise<T> => {
        let result!: T
        const { commands } = await server.commands.during(async () => (result = await work()))
        expect(commands).to.equal(1)
        return result
      }
      const { scores } = await board()
      expect(await one(() => scores.indexOf('di'))).to.equal(2)
      expect(await one(() => scores.indexOf('xx'))).to.equal(null)
      expect(await one(() => scores.contains('xx'))).to.equal(false)
      expect(await one(() => scores.get('bo'))).to.deep.equal(score('bo', 200))
      const found = await one(() => scores.getMany(['al', 'xx', 'cy']))
      expect(found).to.deep.equal([score('al', -5), null, score('cy', 30)])
      expect(await one(() => scores.count())).to.equal(4)
    })

    it('move when the value changes: the old entry goes in the same command', async () => {
      const session = db.session()
      const { scores } = await session.load(Board, 'b')
      const al = (await scores.get('al'))!
      al.points = 31
      expect(await scores.keys()).to.deep.equal(['cy', 'di', 'al', 'bo'])
      expect(await scores.indexOf('al')).to.equal(2)
      expect(players(await scores.first(3))).to.deep.equal(['cy', 'di', 'al'])
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      expect(await (await board()).scores.keys()).to.deep.equal(['cy', 'di', 'al', 'bo'])
      await check('al', 'bo', 'cy', 'di')
      al.points = 1
      await session.flush()
      await check('al', 'bo', 'cy', 'di')
    })

    it('are replaced by an add of the same id, seen or not', async () => {
      const session = db.session()
      const { scores } = await session.load(Board, 'b')
      scores.add(score('bo', 1))
      expect(await scores.count()).to.equal(4)
      await session.flush()
      expect(await (await board()).scores.keys()).to.deep.equal(['al', 'bo', 'cy', 'di'])
      await check('al', 'bo', 'cy', 'di')
    })

    it('are removed where they are now, though someone moved them', async () => {
      const session = db.session()
      const { scores } = await session.load(Board, 'b')
      const al = (await scores.get('al'))!
      const other = db.session()
      ;(await (await other.load(Board, 'b')).scores.get('al'))!.points = 77
      await other.flush()
      scores.remove(al)
      await session.flush()
      await check('bo', 'cy', 'di')
    })

    it('are in conflict when two sessions move them, or one removes them', async () => {
      const [one, two] = [db.session(), db.session()]
      const [mine, theirs] = await Promise.all([one.load(Board, 'b'), two.load(Board, 'b')])
      const [a, b] = [(await mine.scores.get('al'))!, (await theirs.scores.get('al'))!]
      a.points = 50
      await one.flush()
      b.points = 60
      const error = (await rejection(() => two.flush())) as VersionConflictError
      expect(error).to.be.instanceOf(VersionConflictError)
      expect(error.message).to.match(/: scores\["-?\d+:al"\], which was changed here, is no longer there/)
      await check('al', 'bo', 'cy', 'di')
      mine.scores.remove('al')
      await one.flush()
      expect(await rejection(() => two.flush())).to.be.instanceOf(VersionConflictError)
      await check('bo', 'cy', 'di')
    })

    it('that a cap will drop are not shown, before and after they are sent, loaded or not', async () => {
      const made = Object.assign(new Account(), { id: 'a' })
      made.recent.add(...[1, 2, 3, 4, 5].map((id) => payment(id, id)))
      made.largest.add(...[10, 20, 30].map((cents, i) => payment(i, cents)))
      await db.session().save(made)
      for (const isLoaded of [false, true]) {
        const session = db.session()
        const { recent, largest } = isLoaded
          ? await session.load(Account, 'a', { with: ['recent', 'largest'] })
          : {
              recent: session.at(Account, 'a').collection('recent'),
              largest: session.at(Account, 'a').collection('largest'),
            }
        recent.add(payment(6, 6), payment(0, 0))
        largest.add(payment(7, 25), payment(8, 5))
        const answers = async (of: typeof recent, low: number): Promise<unknown[]> => [
          await of.keys(),
          await of.count(),
          (await of.first(2)).map(({ id }) => id),
          (await of.last(2)).map(({ id }) => id),
          (await of.page({ offset: 1, count: 2 })).map(({ id }) => id),
          (await of.range({})).map(({ id }) => id),
          [await of.contains(low), (await of.get(low))?.id, await of.indexOf(low)],
          isLoaded ? of.items.map(({ id }) => id) : [],
        ]
        const expected = (ids: number[]): unknown[] => [
          ids,
          ids.length,
          ids.slice(0, 2),
          ids.slice(-2),
          ids.slice(1, 3),
          ids,
          [false, undefined, null],
          isLoaded ? ids : [],
        ]
        expect(await answers(recent, 0)).to.deep.equal(expected([2, 3, 4, 5, 6]))
        expect(await answers(largest, 8)).to.deep.equal(expected([1, 7, 2]))
        if (isLoaded) await session.flush()
      }
      const after = await db.session().load(Account, 'a')
      expect(await after.recent.keys()).to.deep.equal([2, 3, 4, 5, 6])
      expect(await after.largest.keys()).to.deep.equal([1, 7, 2])
    })

    it('are dropped by the server when a cap is reached, in the command that adds', async () => {
      const session = db.session()
      const account = session.create(Account, { id: 'x' })
      for (let i = 1; i <= 4; i++) account.recent.add(payment(i, i))
      await session.flush()
      for (let i = 5; i <= 8; i++) account.recent.add(payment(i, i))
      for (const [id, cents] of [
        [1, 50],
        [2, -3],
        [3, 700],
        [4, 60],
        [5, 55],
      ])
        account.largest.add(payment(id, cents))
      const sent = await server.commands.during(() => session.flush())
      expect(sent.commands).to.equal(1)
      const found = await db.session().load(Account, 'x')
      expect(found.recent.items.map(({ id }) => id)).to.deep.equal([4, 5, 6, 7, 8])
      expect(found.largest.items.map(({ id }) => id)).to.deep.equal([5, 4, 3])
      const { bins } = (await db.client.get({ ns: namespace, set: 'account', key: 'x' })) as { bins: never }
      expect(Object.keys(bins['largest.ids'])).to.deep.equal(['3', '4', '5'])
      expect(account.recent.items.map(({ id }) => id)).to.deep.equal([4, 5, 6, 7, 8])
      expect(session.isDirty()).to.equal(false)
    })
  })
}
