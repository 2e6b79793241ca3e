import { expect } from 'chai'
import type { Database, SkeinError } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'
import { ALL, Listing, Order, listing } from './models.js'

/** Texts that mean something else to a pattern, a query language or the client. */
const TEXTS = ['.*', '^Bern$', 'B.rn', '[a-z]', 'Bern|Basel', '(', '\\', '$', '*', "' or 1=1", '{"ne":null}', '%', '?']

for (const mode of MODES) {
  describe(`values that come from outside (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened), { emptied: 'once' })
    before(async () => {
      await db.withSession((session) => {
        session.persist(listing('plain', { city: 'Bern', tags: ['Bern'], scores: new Map([['Bern', 1]]) }))
        for (const [i, text] of TEXTS.entries())
          session.persist(listing(`t${i}`, { city: text, tags: [text], scores: new Map([[text, 1]]) }))
      })
      await db.withSession((session) => void session.create(Order, { id: 1, state: 'open' }), { tenant: 'acme' })
    })

    const refusal = (ask: () => unknown): SkeinError | undefined => {
      try {
        ask()
      } catch (error) {
        return error as SkeinError
      }
      return undefined
    }

    it('are compared as texts, whatever they would mean in a pattern', async () => {
      for (const [i, text] of TEXTS.entries()) {
        const own = [`t${i}`]
        const all = db.scan(Listing)
        expect(await all.where({ city: text }).keys(), text).to.deep.equal(own)
        expect(await all.where({ city: { in: [text] } }).keys(), text).to.deep.equal(own)
        expect(await all.where({ tags: { has: text } }).keys(), text).to.deep.equal(own)
        expect(await all.where({ scores: { hasKey: text } }).keys(), text).to.deep.equal(own)
        expect(await all.filter((l) => l.city.eq(text)).keys(), text).to.deep.equal(own)
        for (const where of [{ startsWith: text }, { endsWith: text }, { contains: text }]) {
          const found = (await all.where({ city: where }).toArray()).map(({ city }) => city)
          expect(found, text).to.include(text).and.not.include('Bern')
          const [[operator]] = Object.entries(where) as ['startsWith' | 'endsWith' | 'contains', string][]
          const method = operator === 'contains' ? 'includes' : operator
          expect(
            found.every((city) => city[method](text)),
            text,
          ).to.equal(true)
        }
      }
    })

    it('are rejected where an object stands for a value, so that no condition comes in with them', () => {
      const all = db.scan(Listing)
      const given = JSON.parse('{ "ne": null }') as never
      const calls: (() => unknown)[] = [
        () => all.where({ city: { eq: given } }),
        () => all.where({ city: { ne: given } }),
        () => all.where({ city: { in: [given] } }),
        () => all.where({ price: { gt: given } }),
        () => all.where({ price: { between: [given, given] } }),
        () => all.where({ city: { startsWith: given } }),
        () => all.where({ city: { contains: given } }),
        () => all.where({ tags: { has: given } }),
        () => all.where({ tags: { hasAny: [given] } }),
        () => all.where({ scores: { hasKey: given } }),
        () => all.where({ scores: { hasValue: given } }),
        () => all.where({ address: { street: { eq: given } } }),
        () => all.filter((l) => l.city.eq(given)),
        () => all.filter((l) => l.price.plus(given).gt(1)),
        () => all.where({ agent: { eq: given } }),
      ]
      for (const call of calls)
        expect(refusal(call), call.toString())
          .to.have.property('code')
          .that.matches(/^SKEIN_2/)
    })

    it('name no property that the class does not have, and no prototype', () => {
      for (const text of ['{ "__proto__": { "city": "Bern" } }', '{ "constructor": "x" }', '{ "toString": null }'])
        expect(
          refusal(() => db.scan(Listing).where(JSON.parse(text) as object)),
          text,
        )
          .to.have.property('code')
          .that.matches(/^SKEIN_2/)
      const operator = JSON.parse('{ "__proto__": "Bern" }') as object
      expect(
        refusal(() => db.scan(Listing).where({ city: operator })),
        'an operator',
      )
        .to.have.property('code')
        .that.matches(/^SKEIN_2/)
      expect(({} as { city?: string }).city).to.equal(undefined)
    })

    it('with a NUL, where the client would cut them, are rejected and find nothing else', () => {
      const all = db.query(Listing)
      for (const call of [
        () => all.where({ city: 'Bern\0x' }),
        () => all.where({ city: { in: ['Bern\0'] } }),
        () => all.where({ tags: { has: 'Bern\0x' } }),
        () => db.query(Order, { tenant: 'acme\0bolt' }),
      ])
        expect(refusal(call), call.toString())
          .to.have.property('code')
          .that.matches(/^SKEIN_2/)
    })
  })
}
