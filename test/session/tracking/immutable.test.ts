import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Embeddable, Key, Record, SkeinError, Version, VersionConflictError, type Database } from 'skein'
import { expectProblem } from '../../model/problems-of.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'im_payment' })
class Payment {
  @Key() id!: string
  @Bin({ immutable: true }) currency?: string
  @Bin({ name: 'at', immutable: true }) madeAt?: Date
  @Bin({ type: 'double', immutable: true }) rate?: number
  @Bin() note?: string
}

@Record({ set: 'im_label' })
class Label {
  @Key() id!: string
  @Bin({ type: { list: 'string' }, immutable: true }) words?: string[]
  @Bin() color?: string
  @Version() version?: number
}

const payment = (values: Partial<Payment> = {}): Payment =>
  Object.assign(new Payment(), { id: 'p', currency: 'CHF', ...values })
const label = (values: Partial<Label> = {}): Label => Object.assign(new Label(), { id: 'l', words: ['a'], ...values })

for (const mode of MODES) {
  describe(`immutable values (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Payment, Label], (opened) => ({ db, server } = opened))

    const refused = async (work: () => unknown): Promise<SkeinError> => {
      let error: unknown
      const { commands } = await server.commands.during(async () => (error = await rejection(work)))
      expect(commands).to.equal(0)
      expect(error).to.be.instanceOf(SkeinError)
      return error as SkeinError
    }
    const stored = (): Promise<Payment> => db.session().load(Payment, 'p')

    it('are set by the create and cannot be changed or removed by a save', async () => {
      const session = db.session()
      const one = payment({ madeAt: new Date(5), rate: 2 })
      await session.save(one)
      for (const change of [{ currency: 'EUR' }, { currency: undefined }, { madeAt: new Date(6) }, { rate: 2.5 }]) {
        const before = { ...one }
        Object.assign(one, change)
        const error = await refused(() => session.save(one))
        expect(error.code).to.equal('SKEIN_2210')
        expect(error.details).to.include({ className: 'Payment', property: Object.keys(change)[0], key: 'p' })
        Object.assign(one, before)
      }
      Object.assign(one, { note: 'paid', madeAt: new Date(5) })
      await session.save(one)
      expect(await stored()).to.deep.equal(payment({ madeAt: new Date(5), rate: 2, note: 'paid' }))
    })

    it('are checked in a load of some properties and in transactions, too', async () => {
      await db.session().save(payment())
      const session = db.session()
      const one = await session.load(Payment, 'p', { only: ['currency'] })
      one.currency = 'EUR'
      await refused(() => session.flush())
      if (mode === 'ap') return
      const error = await rejection(() =>
        db.transaction(async (inside) => {
          const loaded = await inside.load(Payment, 'p')
          loaded.currency = 'EUR'
        }),
      )
      expect(error).to.have.property('code', 'SKEIN_2210')
      expect((await stored()).currency).to.equal('CHF')
    })

    it('may be given later where there was none, by one session only', async () => {
      await db.session().save(payment({ currency: undefined }))
      const [first, second] = [db.session(), db.session()]
      const [one, other] = [await first.load(Payment, 'p'), await second.load(Payment, 'p')]
      one.currency = 'CHF'
      other.currency = 'EUR'
      await first.save(one)
      expect(await rejection(() => second.save(other))).to.be.instanceOf(VersionConflictError)
      expect((await stored()).currency).to.equal('CHF')
    })

    it('are compared by an upsert: with what is known here, otherwise by the server in the same command', async () => {
      await db.session().upsert(payment({ rate: 1 }))
      const session = db.session()
      const known = await session.load(Payment, 'p')
      known.currency = 'EUR'
      await refused(() => session.upsert(known))

      let error: unknown
      const { commands } = await server.commands.during(
        async () => (error = await rejection(() => db.session().upsert(payment({ currency: 'EUR', rate: 1 })))),
      )
      expect(commands).to.equal(1)
      expect(error).to.have.property('code', 'SKEIN_2210')
      expect(await rejection(() => db.session().upsert(payment()))).to.have.property('code', 'SKEIN_2210')
      await db.session().upsert(payment({ rate: 1, madeAt: new Date(7), note: 'same' }))
      expect(await stored()).to.deep.equal(payment({ rate: 1, madeAt: new Date(7), note: 'same' }))
    })

    it('that the server cannot compare are refused in an upsert of what was not loaded', async () => {
      const error = await refused(() => db.session().upsert(label()))
      expect(error.code).to.equal('SKEIN_2210')
      expect(error.details.property).to.equal('words')
      const session = db.session()
      const one = label()
      await session.save(one)
      one.words = ['b']
      await refused(() => session.save(one))
      one.words = ['a']
      one.color = 'red'
      await session.save(one)
      expect(await db.session().load(Label, 'l')).to.deep.include({ words: ['a'], color: 'red', version: 2 })
    })

    it('are refused in handles, bulk updates and raw operations', async () => {
      await db.session().save(label())
      const session = db.session()
      expect(await refused(() => session.at(Label, 'l').list('words').append('b'))).to.have.property(
        'code',
        'SKEIN_2210',
      )
      expect(await session.at(Label, 'l').list('words').size()).to.equal(1)
      const bulk = await refused(() => db.scan(Payment).update({ currency: 'EUR' }))
      expect(bulk.code).to.equal('SKEIN_2514')
      expect(bulk.details.property).to.equal('currency')
      const raw = await refused(() => session.operate(Payment, 'p', [Aerospike.operations.write('at', 1)]))
      expect(raw.code).to.equal('SKEIN_2332')
      expect(raw.details.property).to.equal('madeAt')
      const fresh = label({ id: 'n' })
      session.persist(fresh)
      session.at(fresh).list('words').append('b')
      await session.flush()
      expect((await db.session().load(Label, 'n')).words).to.deep.equal(['a', 'b'])
    })
  })
}

describe('a model with an immutable value is refused', () => {
  it('when it is in a part', () => {
    @Embeddable()
    class Money {
      @Bin({ immutable: true }) cents!: number
    }
    @Record({ set: 'wallet' })
    class Wallet {
      @Key() id!: number
      @Bin() name!: string
    }
    expectProblem([Wallet, Money], 'SKEIN_1026', 'Money.cents', /inside one/, /Leave it out/)
  })

  it('when the option is neither true nor false', () => {
    @Record({ set: 'wallet' })
    class Wallet {
      @Key() id!: number
      @Bin({ immutable: 'yes' as unknown as boolean }) name!: string
    }
    expectProblem([Wallet], 'SKEIN_1049', 'Wallet.name', /immutable/, /true/)
  })
})
