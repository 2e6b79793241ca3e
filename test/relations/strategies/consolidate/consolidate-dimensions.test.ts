import aerospike from 'aerospike'
import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Embeddable, Key, OneToMany, Record, SkeinError, collection, type Collection, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { storedFlags } from '../../../stored-flags.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Score {
  @Key() player!: string
  @Bin() points!: number
  @Bin() at?: Date
  @Bin({ type: 'double' }) weight?: number
}

@Record({ set: 'dim_board' })
class Board {
  @Key() id!: number
  @OneToMany(() => Score, {
    strategy: 'consolidate',
    sortKey: ['points'],
    orders: { recent: ['at'], heavy: ['weight', 'points'] },
  })
  scores = collection<Score>()
  @OneToMany(() => Score, { strategy: 'consolidate', orders: { recent: ['at'] } })
  plain = collection<Score>()
}

type Name = 'scores' | 'plain'
const score = (player: string, points: number, at?: number, weight?: number): Score =>
  Object.assign(new Score(), { player, points, at: at === undefined ? undefined : new Date(at), weight })
const players = (found: readonly Score[]): string[] => found.map(({ player }) => player)

for (const mode of MODES) {
  describe(`orders of consolidated children (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Board], (opened) => ({ db, server, namespace } = opened))

    const save = async (): Promise<void> => {
      const board = Object.assign(new Board(), { id: 1 })
      for (const each of [board.scores, board.plain])
        each.add(score('al', 3, 20, 1), score('bo', 2, 10, 2), score('cy', 1, 30, 0.5), score('di', 9))
      await db.session().save(board)
    }
    const stored = (name: Name): Collection<Score> => db.session().at(Board, 1).collection(name)

    it('are asked by the server, in pages, ranges and from either end', async () => {
      await save()
      expect(await storedFlags(db, namespace, 'dim_board', 1)).to.deep.include({ scores_recent: 1, scores_heavy: 1 })
      for (const rows of [stored('scores'), (await db.session().load(Board, 1)).scores]) {
        const recent = rows.by('recent')
        expect(players(await recent.last(2))).to.deep.equal(['al', 'cy'])
        expect(players(await recent.first(1))).to.deep.equal(['bo'])
        expect(players(await recent.page({ offset: -2, count: 1 }))).to.deep.equal(['al'])
        expect(players(await recent.range({ from: new Date(10), to: new Date(30) }))).to.deep.equal(['bo', 'al'])
        expect(players(await recent.range({ from: new Date(11) }))).to.deep.equal(['al', 'cy'])
        expect(players(await rows.by('heavy').range({ to: [2, 2] }))).to.deep.equal(['cy', 'al'])
        expect(await recent.count(), 'a child without the value is not in the order').to.equal(3)
      }
      const { commands } = await server.commands.during(() => stored('plain').by('recent').last(2))
      expect(commands).to.equal(2)
    })

    it('follow a change, a removal and a replacement in the same command, also of children that are not loaded', async () => {
      await save()
      const session = db.session()
      const board = await session.load(Board, 1)
      for (const rows of [board.scores, board.plain]) {
        const al = (await rows.get('al'))!
        al.at = new Date(40)
        al.points = 100
        rows.add(score('di', 5, 5))
        rows.remove('cy')
        expect(players(await rows.by('recent').first(9)), 'unsent changes show').to.deep.equal(['di', 'bo', 'al'])
      }
      const { commands } = await server.commands.during(() => session.flush())
      expect(commands).to.equal(1)
      for (const name of ['scores', 'plain'] as const) {
        expect(players(await stored(name).by('recent').first(9)), name).to.deep.equal(['di', 'bo', 'al'])
        const blind = db.session()
        blind.at(Board, 1).collection(name).remove('bo')
        blind
          .at(Board, 1)
          .collection(name)
          .add(score('al', 1, 1))
        await blind.flush()
        expect(players(await stored(name).by('recent').first(9)), name).to.deep.equal(['al', 'di'])
      }
      for await (const finding of db.verify(Board)) expect.fail(finding.message)
    })

    it('have one tuple of a child that two sessions change at once', async () => {
      await save()
      const sessions = [db.session(), db.session(), db.session()]
      const boards = await Promise.all(sessions.map((session) => session.load(Board, 1)))
      await Promise.all(
        sessions.map(async (session, i) => {
          ;(await boards[i].scores.get('bo'))!.at = new Date(100 + i)
          await session.flush()
        }),
      )
      expect(await stored('scores').by('recent').count()).to.equal(3)
      for await (const finding of db.verify(Board)) expect.fail(finding.message)
    })

    it('are checked by verify and repaired', async () => {
      await save()
      const raw = aerospike.lists
      await db.client.operate(new aerospike.Key(namespace, 'dim_board', 1), [
        raw.removeByValue('scores_recent', [20, 'al']),
        raw.append('scores_recent', [77, 'zz'], { order: raw.order.ORDERED }),
        aerospike.operations.write('plain_recent', null),
      ])
      const found: string[] = []
      for await (const { kind, partKey, repair, state } of db.verify(Board, { repair: true, settle: 0 }))
        found.push(`${kind} ${String(partKey)} ${repair} ${state}`)
      expect(found).to.have.members([
        'wrongOrder al add repaired',
        'wrongOrder zz remove repaired',
        'wrongOrder al add repaired',
        'wrongOrder bo add repaired',
        'wrongOrder cy add repaired',
      ])
      expect(players(await stored('scores').by('recent').first(9))).to.deep.equal(['bo', 'al', 'cy'])
      expect(players(await stored('plain').by('recent').first(9))).to.deep.equal(['bo', 'al', 'cy'])
      expect(await db.layout.diff()).to.deep.equal([])
    })

    it('that are not declared are refused', async () => {
      await save()
      expect(() => stored('plain').by('heavy')).to.throw(SkeinError, "Board.plain has no order 'heavy'")
      expect(() => stored('plain').by('recent').range({ from: 'soon' })).to.not.throw()
      const error = await stored('plain').by('recent').range({ from: 'soon' }).then(() => undefined, (reason: unknown) => reason) // prettier-ignore
      expect(error).to.be.instanceOf(SkeinError).with.property('code', 'SKEIN_2201')
    })

    it('show and store what two sessions change, as a plain model does', async () => {
      type Model = Map<string, { at?: number; points: number }>
      const step = fc.record({
        session: fc.constantFrom<0 | 1>(0, 1),
        kind: fc.constantFrom('add', 'change', 'remove', 'flush', 'ask'),
        player: fc.constantFrom('a', 'b', 'c', 'd'),
        at: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
        points: fc.integer({ min: 0, max: 3 }),
      })
      const inOrder = (model: Model): string[] =>
        [...model]
          .filter(([, { at }]) => at !== undefined)
          .sort(([a, x], [b, y]) => x.at! - y.at! || (a < b ? -1 : 1))
          .map(([player]) => player)
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 15 }),
          fc.constantFrom<Name>('scores', 'plain'),
          async (steps, name) => {
            await db.truncate(Board)
            await db.session().save(Object.assign(new Board(), { id: 1 }))
            const truth: Model = new Map()
            const sessions = [db.session(), db.session()]
            const changes: ((model: Model) => void)[][] = [[], []]
            const flush = async (n: 0 | 1): Promise<void> => {
              await sessions[n].flush()
              for (const change of changes[n].splice(0)) change(truth)
              sessions[n].clear()
            }
            for (const { session: n, kind, player, at, points } of steps) {
              const rows = sessions[n].at(Board, 1).collection(name)
              const seen = new Map(truth)
              for (const change of changes[n]) change(seen)
              if (kind === 'add') {
                rows.add(score(player, points, at))
                changes[n].push((model) => void model.set(player, { at, points }))
              } else if (kind === 'remove') {
                rows.remove(player)
                changes[n].push((model) => void model.delete(player))
              } else if (kind === 'change') {
                const part = await rows.get(player)
                if (part === null) continue
                Object.assign(part, { at: at === undefined ? undefined : new Date(at), points })
                changes[n].push((model) => void model.set(player, { at, points }))
                await flush(n)
              } else if (kind === 'flush') await flush(n)
              else expect(players(await rows.by('recent').first(9))).to.deep.equal(inOrder(seen))
            }
            await flush(0)
            await flush(1)
            expect(players(await stored(name).by('recent').first(9))).to.deep.equal(inOrder(truth))
          },
        ),
        { numRuns: 40 },
      )
    })
  })
}
