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
    let opened: OpenedDatabase | undefined
    const take = (given: OpenedDatabase): void => {
      opened = given
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

    it('end with an error when the database is closed between two steps, and make it wait for the step that is read', async () => {
      await fill()
      const other = await opened!.server.open({
        namespace: opened!.namespace,
        entities: ALL,
        limits: { queryRecords: 1000 },
      })
      const items = other.scan(Listing)[Symbol.asyncIterator]()
      const ended: string[] = []
      const first = items.next().then(({ done }) => ended.push(`read ${done}`))
      const closed = other.close().then(() => ended.push('closed'))
      await Promise.all([first, closed])
      expect(ended).to.deep.equal(['read false', 'closed'])
      const rest = async (): Promise<void> => {
        for (let next = await items.next(); next.done !== true; next = await items.next());
      }
      expect(await rest().catch((e: unknown) => e)).to.have.property('code', 'SKEIN_4104')
    })

    it('go on with pages, keys, sums and session queries after a lost connection', async () => {
      await fill()
      const asked: { readonly [what: string]: () => Promise<unknown> } = {
        keys: async () => new Set(await db.scan(Listing).keys()).size,
        pages: async () => {
          const seen: string[] = []
          for (let after: string | undefined; ;) {
            const page = await db.scan(Listing).page({ count: 900, after })
            seen.push(...page.map(({ id }) => id))
            if (page.next === undefined) break
            after = page.next
          }
          expect(seen).to.have.length(COUNT)
          return new Set(seen).size
        },
        groups: async () => (await db.scan(Listing).groupBy('city').count()).get('Bern'),
        session: async () => (await db.session().query(Listing).scan().toArray()).length,
      }
      for (const [what, ask] of Object.entries(asked)) {
        const fault = await server!.faults.add({ kind: 'query', set: set(), skip: 1, drop: true })
        expect(await ask(), what).to.equal(COUNT)
        expect(await fault.hits(), what).to.equal(1)
      }
    })
  })
}
