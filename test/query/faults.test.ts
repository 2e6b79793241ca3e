import { expect } from 'chai'
import type { Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { MODES, need } from '../server.js'
import { useDatabase, type OpenedDatabase } from '../use-database.js'
import { ALL, Listing, listing } from './models.js'

for (const mode of MODES) {
  describe(`queries with faults (${mode})`, () => {
    let db: Database
    let server: EmbeddedServer | undefined
    const take = (opened: OpenedDatabase): void => {
      db = opened.db
      server = opened.server.embedded
    }
    // Several steps for each query, so that faults hit one in the middle.
    useDatabase(mode, ALL, take, { limits: { queryRecords: 1000 } })
    beforeEach(function () {
      need(this, server, 'faults need the embedded server')
    })
    afterEach(() => server?.faults.clear())

    const COUNT = 2500
    const fill = (): Promise<void> =>
      db.withSession(async (session) => {
        for (let i = 0; i < COUNT; i++) session.persist(listing(`l${i}`, { price: i }))
      })
    const set = (): string => db.model.entity(Listing).set

    for (const [what, fault] of [
      ['a lost connection', { drop: true }],
      ['a connection that is lost after the rows', { drop: true, after: true }],
      ['a busy server', { answer: 18 }],
    ] as const) {
      it(`go on after ${what}, and give every record once`, async () => {
        await fill()
        for (const query of [db.scan(Listing), db.query(Listing).where({ price: { gte: 0 } })]) {
          const faults = await Promise.all(
            [1, 3].map((skip) => server!.faults.add({ kind: 'query', set: set(), skip, ...fault })),
          )
          const seen: string[] = []
          for await (const { id } of query) seen.push(id)
          expect(seen).to.have.length(COUNT)
          expect(new Set(seen).size).to.equal(COUNT)
          for (const each of faults) expect(await each.hits()).to.equal(1)
          await server!.faults.clear()
        }
      })
    }

    it('reject with the reason when the server stays away', async () => {
      await server!.faults.add({ kind: 'query', set: set(), times: 100, answer: 18 })
      const error = await db
        .scan(Listing)
        .count()
        .catch((e: unknown) => e)
      expect(error).to.have.property('code', 'SKEIN_4202')
    })

    it('wait for an index that is being built, and say so when it takes too long', async () => {
      await fill()
      const query = db.query(Listing).where({ price: { gte: 0 } })
      const once = await server!.faults.add({ kind: 'query', set: set(), answer: 203, times: 2 })
      expect(await query.count()).to.equal(COUNT)
      expect(await once.hits()).to.equal(2)
      await server!.faults.add({ kind: 'query', set: set(), answer: 203, times: Infinity })
      const error = await query.count().catch((e: unknown) => e as Error)
      expect(error).to.have.property('code', 'SKEIN_4211')
      expect((error as Error).message).to.match(/Index '\w+_price' of Listing is still being built \(100 %\)/)
    })

    it('see what stays exactly once while others write, delete and move in the index', async () => {
      await fill()
      let isOver = false
      const writer = (async () => {
        for (let round = 0; !isOver; round++) {
          await db.withSession(async (session) => {
            for (let i = 0; i < 40; i++) session.persist(listing(`new${round}-${i}`, { price: i * 50 }))
          })
          await db
            .query(Listing)
            .where({ price: { between: [0, 40] } })
            .sample(0.5)
            .update({ rating: round })
        }
      })()
      try {
        for (const query of [db.scan(Listing), db.query(Listing).where({ price: { gte: 0 } })]) {
          const seen: string[] = []
          for await (const { id } of query) seen.push(id)
          expect(new Set(seen).size).to.equal(seen.length)
          expect(seen.filter((id) => id.startsWith('l'))).to.have.length(COUNT)
        }
      } finally {
        isOver = true
        await writer
      }
    })

    it('close only after a query that somebody still reads has ended', async () => {
      await fill()
      const other = db.scan(Listing)[Symbol.asyncIterator]()
      await other.next()
      await other.return()
      expect(await db.scan(Listing).count()).to.equal(COUNT)
    })
  })
}
