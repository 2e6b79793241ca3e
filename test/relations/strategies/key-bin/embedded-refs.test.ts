import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, ManyToOne, Record, SkeinError, ref, toPlain, type Database } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'embedded-car' })
class Car {
  @Key() id!: number
}

@Embeddable()
class Home {
  @Bin() street!: string
  @ManyToOne(() => Car) car = ref<Car>()
}

@Record({ set: 'embedded-tenant' })
class Tenant {
  @Key() id!: number
  @Bin() name?: string
  @Embedded(() => Home) home?: Home
  @Embedded(() => Home, { as: 'array' }) former?: Home[]
  @Embedded(() => Home, { as: 'map' }) byYear?: Map<string, Home>
}

const home = (car: Car | number | null): Home => {
  const made = Object.assign(new Home(), { street: 'Long Street' })
  made.car.set(car)
  return made
}
const car = (id: number): Car => Object.assign(new Car(), { id })

for (const mode of MODES) {
  describe(`references inside embedded parts (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [Tenant, Car], (opened) => ({ db, server } = opened))

    it('are refused before anything is sent when they point to an entity that would not be saved', async () => {
      for (const values of [{ home: home(car(50)) }, { former: [home(1), home(car(50))] }]) {
        const session = db.session()
        session.create(Tenant, { id: 1, ...values })
        let error: unknown
        const sent = await server.commands.during(async () => (error = await rejection(() => session.flush())))
        expect(sent.commands).to.equal(0)
        expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2409')
        expect((error as SkeinError).message).to.match(/^Tenant\.(home|former) points in car to Car 50, .*persist/)
      }
      const session = db.session()
      const one = await session.save(Object.assign(new Tenant(), { id: 1 }))
      one.home = home(car(50))
      expect(await rejection(() => session.save(one))).to.have.property('code', 'SKEIN_2409')
    })

    it('are stored when they point to a key, or to an entity of the session', async () => {
      const session = db.session()
      session.create(Tenant, { id: 1, home: home(session.create(Car, { id: 50 })) })
      session.create(Tenant, { id: 2, home: home(50) })
      await session.flush()
      const found = await db.session().loadMany(Tenant, [1, 2])
      expect(found.map((each) => each.home?.car.key)).to.deep.equal([50, 50])
      expect(await db.session().find(Car, 50)).to.not.equal(null)
    })

    it('are keys as plain data', async () => {
      const values = { home: home(50), former: [home(51), home(null)], byYear: new Map([['2001', home(52)]]) }
      await db.session().save(Object.assign(new Tenant(), { id: 1, ...values }))
      const tenant = await db.session().load(Tenant, 1)
      const street = 'Long Street'
      expect(toPlain(tenant)).to.deep.equal({
        id: 1,
        home: { street, car: 50 },
        former: [
          { street, car: 51 },
          { street, car: null },
        ],
        byYear: { 2001: { street, car: 52 } },
      })
      expect(toPlain(tenant, { relations: 'none' })).to.deep.include({ home: { street } })
    })

    it('do not keep other changes from being saved once they are stored', async () => {
      const session = db.session()
      const mine = session.create(Car, { id: 50 })
      const tenant = session.create(Tenant, { id: 1, home: home(mine) })
      await session.flush()
      session.detach(mine)
      tenant.name = 'Ann'
      await session.flush()
      expect((await db.session().load(Tenant, 1)).name).to.equal('Ann')
    })

    it('say that no session loads them, and what to do', async () => {
      await db.withSession(async (session) => {
        session.create(Tenant, { id: 1, home: home(session.create(Car, { id: 50 })) })
      })
      const session = db.session()
      const { car: reference } = (await session.load(Tenant, 1)).home!
      const error = (await rejection(() => reference.load())) as SkeinError
      expect(error.code).to.equal('SKEIN_2403')
      expect(error.message).to.match(/inside an @Embedded part.*session\.load\(Class, ref\.key\)/)
      expect((await session.load(Car, reference.key as number)).id).to.equal(50)
    })
  })
}
