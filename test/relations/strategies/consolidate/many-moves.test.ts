import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Version, collection } from 'skein'
import type { Database, SkeinError } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

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

@Record({ set: 'mm-list' })
class Ranking {
  @Key() id!: number
  @OneToMany(() => Score, { strategy: 'consolidate', orders: { best: ['points'] } }) scores = collection<Score>()
}

const COUNT = 600
/** More moves than one write holds: each takes about 180 bytes of an expression. */
const TOO_MANY = 3_500
const score = (id: number): Score => Object.assign(new Score(), { id, points: id })
const moved = (points: number): number => (points * 7919 + 13) % (COUNT * 3)

for (const mode of MODES) {
  describe(`many sort keys of one record that change in one flush (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Board, Ranking], (opened) => ({ db, server } = opened))
    const verified = async (): Promise<void> => {
      for await (const finding of db.verify([Board, Ranking], { settle: 0 })) expect.fail(finding.message)
    }
    const create = (count = COUNT): Promise<Board> =>
      db.withSession((session) => {
        const board = session.create(Board, { id: 1, title: 'old' })
        for (let id = 0; id < count; id++) board.scores.add(score(id))
        return board
      })

    it('are stored by one command, and what others changed in the children stays', async () => {
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
      if (server.embedded !== undefined) expect(commands).to.equal(1)
      const now = await db.session().load(Board, 1)
      const wanted = Array.from({ length: COUNT }, (_, id) => [moved(id), id]).sort(([a, i], [b, j]) => a - b || i - j)
      expect(now.scores.items.map(({ id, points }) => [points, id])).to.deep.equal(wanted)
      expect([now.title, now.version]).to.deep.equal(['new', board.version])
      expect(now.scores.items.filter(({ note }) => note === 'from another session')).to.have.length(
        first.id < 3 ? 2 : 3,
      )
      await verified()
    }).timeout(60_000)

    it('are stored by commands that each hold as many as a server takes', async () => {
      await create(TOO_MANY)
      const session = db.session()
      const board = await session.load(Board, 1)
      for (const one of board.scores.items) one.points = TOO_MANY - one.points
      const sent = await server.embedded?.commands.during(() => session.flush())
      if (sent === undefined) await session.flush()
      else expect(sent.commands).to.equal(2)
      expect(session.isDirty()).to.equal(false)
      const { items } = (await db.session().load(Board, 1)).scores
      expect(items.map(({ id }) => id)).to.deep.equal(Array.from({ length: TOO_MANY }, (_, i) => TOO_MANY - 1 - i))
      await verified()
    }).timeout(60_000)

    it('are stored by one command in a further order, also beside children that others have taken out of it', async () => {
      await db.withSession((session) => {
        const ranking = session.create(Ranking, { id: 1 })
        for (let id = 0; id < COUNT; id++) ranking.scores.add(score(id))
      })
      const session = db.session()
      const ranking = await session.load(Ranking, 1)
      await db.withSession(async (other) => {
        const { items } = (await other.load(Ranking, 1)).scores
        for (const one of items.slice(0, 3)) delete (one as Partial<Score>).points
      })
      for (const one of ranking.scores.items) one.points = COUNT - one.points
      const sent = await server.embedded?.commands.during(() => session.flush())
      if (sent === undefined) await session.flush()
      else expect(sent.commands).to.equal(1)
      const best = await db.session().at(Ranking, 1).collection('scores').by('best').first(COUNT)
      expect(best.map(({ id }) => id)).to.deep.equal(Array.from({ length: COUNT }, (_, i) => COUNT - 1 - i))
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
        await create(TOO_MANY)
        const error = (await rejection(() =>
          db.transaction(async (session) => {
            for (const one of (await session.load(Board, 1)).scores.items) one.points = moved(one.points)
          }),
        )) as SkeinError
        expect(error.code).to.equal('SKEIN_2425')
        expect(error.message).to.contain('Board.scores')
        await db.transaction(async (session) => {
          for (const one of (await session.load(Board, 1)).scores.items.slice(0, COUNT)) one.points = moved(one.points)
        })
        await verified()
      }).timeout(60_000)
  })
}
