import { expect } from 'chai'
import { Bin, Index, Key, Record, inc, type Database, type EntityClass, type SkeinError } from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const unique = `qt${process.pid}${Date.now() % 1e6}`

/** The tenant is a property of the key. */
@Record({ set: `${unique}i`, key: '{tenant}:{number}', tenant: true })
class Invoice {
  @Bin() tenant!: string
  @Bin({ type: 'int' }) number!: number
  @Index() @Bin() state!: string
  @Bin({ type: 'int' }) sum = 0
}

/** The tenant stands in front of the key. */
@Record({ set: `${unique}o`, tenant: true })
class Order {
  @Key() id!: number
  @Index() @Bin() state!: string
}

@Record({ set: `${unique}p` })
class Plain {
  @Key() id!: number
}

const BOTH: readonly EntityClass[] = [Invoice, Order]

for (const mode of MODES) {
  describe(`queries of tenants (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Invoice, Order, Plain], (opened) => ({ db } = opened))

    beforeEach(async () => {
      for (const tenant of ['acme', 'bolt'])
        await db.withSession(
          (session) => {
            for (const number of [1, 2]) session.create(Invoice, { tenant, number, state: 'open', sum: 0 })
            for (const id of [1, 2]) session.create(Order, { id, state: 'open' })
          },
          { tenant },
        )
    })
    const codeOf = (work: () => unknown): Promise<SkeinError> => rejection(async () => work()) as Promise<SkeinError>

    it('need a tenant, wherever it stands in the key', async () => {
      for (const each of BOTH) {
        for (const work of [
          () => db.query(each),
          () => db.scan(each),
          () => db.session().query(each),
          () => db.withSession((session) => session.query(each).scan().toArray()),
        ]) {
          const error = await codeOf(work)
          expect(error.code).to.equal('SKEIN_2105')
          expect(error.message).to.include(`db.query(${each.name}, { tenant: '…' })`)
        }
      }
    })

    it('read all tenants only where that is said, and where the records tell them', async () => {
      const all = db.scan(Invoice, { allTenants: true })
      expect(await all.count()).to.equal(4)
      expect(await all.groupBy('tenant').count()).to.deep.equal(
        new Map([
          ['acme', 2],
          ['bolt', 2],
        ]),
      )
      expect(
        (await db.session().query(Invoice, { allTenants: true }).where({ state: 'open' }).toArray()).length,
      ).to.equal(4)
      expect(await all.update({ sum: inc(1) })).to.include({ written: 4, by: 'server' })
      expect(await all.where({ sum: 1 }).delete()).to.include({ written: 4 })
      expect((await codeOf(() => db.scan(Order, { allTenants: true }))).code).to.equal('SKEIN_2105')
      expect((await codeOf(() => db.scan(Invoice, { tenant: 'acme', allTenants: true }))).code).to.equal('SKEIN_2320')
      expect((await codeOf(() => db.scan(Invoice, { allTenants: 1 as never }))).code).to.equal('SKEIN_2320')
    })

    it('change and delete nothing of another tenant', async () => {
      await db.query(Invoice, { tenant: 'acme' }).where({ state: 'open' }).update({ state: 'paid' })
      await db.scan(Order, { tenant: 'acme' }).delete()
      const states = await db.scan(Invoice, { tenant: 'bolt' }).groupBy('state').count()
      expect(states).to.deep.equal(new Map([['open', 2]]))
      expect(await db.scan(Order, { tenant: 'bolt' }).count()).to.equal(2)
      expect(await db.scan(Order, { tenant: 'acme' }).count()).to.equal(0)
      expect(await db.query(Invoice, { tenant: 'acme' }).where({ state: 'paid', tenant: 'bolt' }).count()).to.equal(0)
    })

    it('reject a tenant where the class has none', async () => {
      const error = await codeOf(() => db.query(Plain, { tenant: 'acme' }))
      expect(error.code).to.equal('SKEIN_2320')
      expect(error.message).to.include('A query of Plain takes no tenant')
      expect(await db.session({ tenant: 'acme' }).query(Plain).scan().count()).to.equal(0)
    })

    it('reject a tenant that no key can hold', async () => {
      for (const tenant of ['', NaN, 1.5, {}, null, true, 'x'.repeat(70_000)])
        for (const each of BOTH)
          expect((await codeOf(() => db.query(each, { tenant: tenant as never }))).code).to.equal('SKEIN_2101')
      const error = await codeOf(() => db.query(Invoice, { tenant: 5 }))
      expect(error.code).to.equal('SKEIN_2101')
      expect(error.message).to.include('The tenant 5 is not a string, as Invoice.tenant is.')
    })
  })
}
