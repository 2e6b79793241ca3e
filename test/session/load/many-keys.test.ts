import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Bin, Key, NotFoundError, Record, type CommandEvent, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'many-keys' })
class Thing {
  @Key() id!: number
  @Bin() name?: string
}

const COUNT = 25_000
const KEYS = Array.from({ length: COUNT }, (_, id) => id)

for (const mode of MODES) {
  describe(`reads of very many keys (${mode})`, function () {
    this.timeout(60_000)
    let db: Database
    useDatabase(mode, [Thing], (opened) => ({ db } = opened), { emptied: 'once' })
    before(() => db.withSession((session) => void session.create(Thing, { id: 7, name: 'seven' })))

    /** Rows that were answered while the work was done. */
    async function rowsOf(work: () => Promise<unknown>, onRow?: () => void): Promise<number> {
      let rows = 0
      const note = (message: unknown): void => {
        if ((message as CommandEvent).set !== 'many-keys') return
        rows++
        onRow?.()
      }
      subscribe('skein:command', note)
      try {
        await work()
      } finally {
        unsubscribe('skein:command', note)
      }
      return rows
    }

    const CALLS: Readonly<globalThis.Record<string, (keys: number[], signal?: AbortSignal) => Promise<unknown[]>>> = {
      findMany: (keys, signal) => db.session().findMany(Thing, keys, { signal }),
      'db.read': (keys, signal) => db.read(Thing, keys, { signal }),
    }
    for (const [name, call] of Object.entries(CALLS)) {
      it(`ask for each of them once and answer in their order: ${name}`, async () => {
        let found: unknown[] = []
        expect(await rowsOf(async () => (found = await call(KEYS)))).to.equal(COUNT)
        expect(found).to.have.length(COUNT)
        expect(found.flatMap((thing, i) => (thing === null ? [] : [i]))).to.deep.equal([7])
      })

      it(`ask for no more than 10,000 of them at a time: ${name}`, async () => {
        const abort = new AbortController()
        let last = performance.now()
        const asked = await rowsOf(
          async () => {
            await rejection(() => call(KEYS, abort.signal))
            // Reads under way when the call ended are answered all the same.
            while (performance.now() - last < 300) await new Promise((resolve) => setTimeout(resolve, 50))
          },
          () => {
            last = performance.now()
            abort.abort()
          },
        )
        expect(asked).to.be.at.most(10_000)
      })
    }

    it('read a key once that is given many times', async () => {
      const keys = KEYS.map((key) => (key % 2 === 0 ? 7 : -1))
      const session = db.session()
      let found: (Thing | null)[] = []
      expect(await rowsOf(async () => (found = await session.findMany(Thing, keys)))).to.equal(2)
      expect([found[0]?.name, found[1], found[0] === found[COUNT - 2]]).to.deep.equal(['seven', null, true])
    })

    it('end with an error that names some of those that are missing', async () => {
      const error = (await rejection(() => db.session().loadMany(Thing, KEYS))) as NotFoundError
      expect(error).to.be.instanceOf(NotFoundError)
      expect(error.message.length).to.be.below(1_000)
    })
  })
}
