import { expect } from 'chai'
import type { Database, Query, SkeinError } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'
import { ALL, Circle, Invoice, Listing, Order, Shape, Square, listing } from './models.js'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

for (const mode of MODES) {
  describe(`a cursor of a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened), { emptied: 'once' })
    before(async () => {
      await db.withSession((session) => {
        for (let i = 0; i < 12; i++) session.persist(listing(`l${i}`, { price: i, city: i % 2 ? 'Bern' : 'Basel' }))
        for (let id = 0; id < 6; id++)
          session.persist(Object.assign(id % 2 ? new Circle() : new Square(), { id, color: 'red', radius: 1, side: 1 }))
      })
      for (const tenant of ['acme', 'bolt'])
        await db.withSession(
          (session) => {
            for (let id = 0; id < 4; id++) session.create(Order, { id, state: 'open' })
            for (let number = 0; number < 4; number++) session.create(Invoice, { tenant, number, state: 'open' })
          },
          { tenant },
        )
    })

    const rejection = (query: Query<object>, after: unknown): Promise<SkeinError | undefined> =>
      query.page({ count: 1, after: after as string }).then(
        () => undefined,
        (error: unknown) => error as SkeinError,
      )
    const cursorOf = async (query: Query<object>): Promise<string> => (await query.page({ count: 1 })).next!

    it('is rejected when any of its characters was changed, one is missing or one is added', async () => {
      const bern = db.query(Listing).where({ city: 'Bern' })
      for (const query of [bern, bern.orderBy('price'), bern.orderBy('city').orderBy('price', 'desc')]) {
        const cursor = await cursorOf(query)
        expect(await rejection(query, cursor)).to.equal(undefined)
        const changed = [...cursor].map((digit, i) => {
          const other = DIGITS[(DIGITS.indexOf(digit) + 1 + (i % 62)) % 64]
          return cursor.slice(0, i) + other + cursor.slice(i + 1)
        })
        for (const wrong of [
          ...changed,
          cursor.slice(1),
          cursor.slice(0, -1),
          `${cursor}A`,
          `${cursor}=`,
          `${cursor} `,
          '',
        ])
          expect(await rejection(query, wrong), wrong).to.have.property('code', 'SKEIN_2501')
      }
    })

    it('is rejected by a query of another class, condition, order, tenant or kind of deletes', async () => {
      const bern = db.query(Listing).where({ city: 'Bern' })
      const order = db.scan(Order, { tenant: 'acme' })
      const invoice = db.scan(Invoice, { tenant: 'acme' })
      const pairs: readonly (readonly [of: Query<object>, given: Query<object>])[] = [
        [db.scan(Shape), db.scan(Circle)],
        [db.scan(Circle), db.scan(Square)],
        [db.scan(Circle), db.scan(Shape)],
        [bern, db.query(Listing).where({ city: 'Basel' })],
        [bern, bern.where({ price: { gte: 0 } })],
        [bern, bern.filter((l) => l.price.gte(0))],
        [bern, bern.sample(0.9)],
        [bern, bern.orderBy('price')],
        [bern.orderBy('price'), bern],
        [bern.orderBy('price'), bern.orderBy('price', 'desc')],
        [bern.orderBy('price'), bern.orderBy('city')],
        [order, db.scan(Order, { tenant: 'bolt' })],
        [invoice, db.scan(Invoice, { tenant: 'bolt' })],
        [invoice, db.scan(Invoice, { allTenants: true })],
        [order, invoice],
      ]
      for (const [i, [of, given]] of pairs.entries()) {
        const cursor = await cursorOf(of)
        expect(await rejection(of, cursor), `pair ${i}`).to.equal(undefined)
        expect(await rejection(given, cursor), `pair ${i}`).to.have.property('code', 'SKEIN_2501')
      }
    })

    it('is taken by a query with the same conditions in other words, and in a session', async () => {
      const cursor = await cursorOf(db.query(Listing).where({ city: 'Bern' }))
      expect(await rejection(db.scan(Listing).where({ city: { eq: 'Bern' } }), cursor)).to.equal(undefined)
      expect(await rejection(db.session().query(Listing).where({ city: 'Bern' }), cursor)).to.equal(undefined)
    })

    it('is named in the error as what it is', async () => {
      const bern = db.query(Listing).where({ city: 'Bern' })
      const texts: readonly (readonly [given: unknown, said: string])[] = [
        [{}, 'An object is not a cursor of this query for Listing.'],
        [Object.create(null), 'An object is not a cursor of this query for Listing.'],
        [['x'], 'A list is not a cursor of this query for Listing.'],
        [5, '5 is not a cursor of this query for Listing.'],
        [null, 'null is not a cursor of this query for Listing.'],
        ['x', "'x' is not a cursor of this query for Listing."],
        ['x'.repeat(5000), "x… (5000 characters)' is not a cursor of this query for Listing."],
      ]
      for (const [given, said] of texts) {
        const error = await rejection(bern, given)
        expect(error).to.have.property('code', 'SKEIN_2501')
        expect(error!.message).to.include(said)
      }
    })
  })
}
