import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Version, collection } from 'skein'
import type { Database, SkeinError } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Score {
  @Key() id!: number
  @Bin() points!: number
  @Bin() note?: string
}

@Record({ set: 'mm-board' })
class Board {
  @Key() id!: number
  @Bin() title?: string
  @Version() version?: number
  @OneToMany(() => Score, { strategy: 'consolidate', sortKey: ['points'] }) scores = collection<Score>()
}

const COUNT = 600
const score = (id: number): Score => Object.assign(new Score(), { id, points: id })
const moved = (points: number): number => (points * 7919 + 13) % (COUNT * 3)

for (const mode of MODES) {
  describe(`many sort keys of one record that change in one flush (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Board], (opened) => ({ db, server } = opened))
    const verified = async (): Promise<void> => {
      for await (const finding of db.verify(Board, { settle: 0 })) expect.fail(finding.message)
    }
    const create = (): Promise<Board> =>
      db.withSession((session) => {
        const board = session.create(Board, { id: 1, title: 'old' })
        for (let id = 0; id < COUNT; id++) board.scores.add(score(id))
        return board
      })

    it('are stored by commands that each stay small, and what others changed in the children stays', async () => {
      await create()
      const session = db.session()
      const board = await session.load(Board, 1)
      await db.withSession(async (other) => {
        const same = await other.load(Board, 1)
        for (const one of same.scores.items.slice(0, 3)) one.note = 'from another session'
      })
      await session.refresh(board)
      board.title = 'new'
      for (const one of board.scores.items) one.points = moved(one.points)
      const [first] = board.scores.items
      first.note = 'changed with its place'
      let commands = 0
      if (server.embedded === undefined) await session.flush()
      else ({ commands } = await server.embedded.commands.during(() => session.flush()))
      expect(session.isDirty()).to.equal(false)
      if (server.embedded !== undefined) expect(commands).to.be.greaterThan(1).and.below(10)
      const now = await db.session().load(Board, 1)
      const wanted = Array.from({ length: COUNT }, (_, id) => [moved(id), id]).sort(([a, i], [b, j]) => a - b || i - j)
      expect(now.scores.items.map(({ id, points }) => [points, id])).to.deep.equal(wanted)
      expect([now.title, now.version]).to.deep.equal(['new', board.version])
      expect(now.scores.items.filter(({ note }) => note === 'from another session')).to.have.length(
        first.id < 3 ? 2 : 3,
      )
      await verified()
    }).timeout(60_000)

    it('are added in one command', async () => {
      await db.withSession((session) => session.create(Board, { id: 1 }))
      const session = db.session()
      const board = await session.load(Board, 1)
      for (let id = 0; id < COUNT; id++) board.scores.add(score(id))
      await session.flush()
      session.clear()
      const again = await session.load(Board, 1, { only: ['title'] })
      for (let id = 0; id < COUNT; id++) again.scores.add(Object.assign(score(id), { points: moved(id) }))
      await session.flush()
      again.scores.remove(...Array.from({ length: COUNT / 2 }, (_, id) => id))
      await session.flush()
      const now = await db.session().load(Board, 1)
      expect(now.scores.items.map(({ id }) => id).sort((a, b) => a - b)).to.deep.equal(
        Array.from({ length: COUNT / 2 }, (_, i) => COUNT / 2 + i),
      )
      await verified()
    }).timeout(60_000)

    if (mode === 'sc')
      it('are refused in a transaction, which has one write for each record, before anything is sent', async () => {
        await create()
        const error = (await rejection(() =>
          db.transaction(async (session) => {
            for (const one of (await session.load(Board, 1)).scores.items) one.points = moved(one.points)
          }),
        )) as SkeinError
        expect(error.code).to.equal('SKEIN_2425')
        expect(error.message).to.contain('Board.scores')
        await db.transaction(async (session) => {
          for (const one of (await session.load(Board, 1)).scores.items.slice(0, 20)) one.points = moved(one.points)
        })
        await verified()
      }).timeout(60_000)
  })
}
