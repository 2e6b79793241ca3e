import { expect } from 'chai'
import { Bin, Key, Record, type Database } from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'lsr_log' })
class Log {
  @Key() id!: string
  @Bin({ type: { list: 'int' } }) lines: number[] = []
}

const LENGTH = 1000
type Range = { first: number } | { last: number } | { offset: number; count: number }

for (const mode of MODES) {
  describe(`ranges of a list that one session loads after another (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Log], (opened) => ({ db, server } = opened))
    beforeEach(() =>
      db.session().save(Object.assign(new Log(), { id: 'a', lines: Array.from({ length: LENGTH }, (_, i) => i) })),
    )

    const load = async (one: Range, other: Range): Promise<{ shown: string; commands: number; bytes: number }> => {
      const session = db.session()
      const log = await session.load(Log, 'a', { only: [{ lines: one }] })
      const seen: { commands: number; bytesOut?: number } = await (server.embedded ?? server).commands.during(() =>
        session.load(Log, 'a', { only: [{ lines: other }] }),
      )
      const { lines } = log
      // Only the embedded server counts bytes.
      return {
        shown: `${lines[0]}–${lines.at(-1)}: ${lines.length}`,
        commands: seen.commands,
        bytes: seen.bytesOut ?? 0,
      }
    }

    it('are read once if the first holds the second', async () => {
      for (const [one, other, shown] of [
        [{ last: 5 }, { last: 2 }, '995–999: 5'],
        [{ last: 5 }, { offset: -4, count: 2 }, '995–999: 5'],
        [{ offset: -5, count: 9 }, { last: 5 }, '995–999: 5'],
        [{ first: 5 }, { offset: 1, count: 2 }, '0–4: 5'],
      ] as const)
        expect(await load(one, other)).to.deep.include({ shown, commands: 0 })
    })

    it('are read together with what lies between, and no more', async () => {
      for (const [one, other, shown] of [
        [{ last: 2 }, { last: 5 }, '995–999: 5'],
        [{ first: 2 }, { offset: 2, count: 2 }, '0–3: 4'],
        [{ offset: 6, count: 2 }, { first: 2 }, '0–7: 8'],
        [{ offset: -8, count: 2 }, { last: 3 }, '992–999: 8'],
      ] as const) {
        const read = await load(one, other)
        expect(read).to.deep.include({ shown, commands: 1 })
        expect(read.bytes).to.be.below(200)
      }
    })

    it('are the whole list if one counts from the start and the other from the end', async () => {
      expect(await load({ first: 2 }, { last: 2 })).to.deep.include({ shown: '0–999: 1000', commands: 1 })
    })

    it('of both ends are asked for by a handle, with one command and the same bytes however long the list is', async function () {
      const counter = need(this, server.embedded, 'only the embedded server counts bytes').commands
      const bytes: number[] = []
      for (const length of [10, 10_000]) {
        const lines = Array.from({ length }, (_, i) => i)
        await db.session().save(Object.assign(new Log(), { id: `log ${length}`, lines }))
        const list = db.session().at(Log, `log ${length}`).list('lines')
        const { commands, bytesIn, bytesOut } = await counter.during(async () => {
          const ends = await Promise.all([list.first(2), list.last(2)])
          expect(ends).to.deep.equal([[0, 1], lines.slice(-2)])
        })
        expect(commands).to.equal(1)
        bytes.push(bytesIn + bytesOut)
      }
      expect(bytes[1] - bytes[0]).to.be.below(16)
    })

    it('can be appended to once they reach the end', async () => {
      const session = db.session()
      const log = await session.load(Log, 'a', { only: [{ lines: { offset: -4, count: 2 } }] })
      await session.load(Log, 'a', { only: [{ lines: { last: 1 } }] })
      log.lines.push(7)
      await session.flush()
      expect((await db.session().load(Log, 'a')).lines.slice(-3)).to.deep.equal([998, 999, 7])
    })
  })
}
