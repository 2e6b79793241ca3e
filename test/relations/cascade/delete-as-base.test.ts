import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  AfterDelete,
  Bin,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  RestrictedError,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'vehicle', discriminator: 'kind', discriminatorValue: 'vehicle' })
class Vehicle {
  @Key() id!: number
  @Bin() name?: string
}

@Record({ discriminatorValue: 'bus' })
class Bus extends Vehicle {
  @OneToMany(() => Seat, 'bus', { onDelete: 'cascade' }) seats = collection<Seat>()
  @OneToMany(() => Repair, 'bus', { onDelete: 'restrict' }) repairs = collection<Repair>()
  @ManyToMany(() => Line, 'buses', { owner: true }) lines = collection<Line>()
}

const scrapped: number[] = []

@Record({ set: 'engine', discriminator: 'kind', discriminatorValue: 'engine' })
class Engine {
  @Key() id!: number
}

@Record({ discriminatorValue: 'turbine' })
class Turbine extends Engine {
  @AfterDelete() scrap(): void {
    scrapped.push(this.id)
  }
}

@Record({ set: 'seat' })
class Seat {
  @Key() id!: number
  @ManyToOne(() => Bus, 'seats') bus = ref<Bus>()
}

@Record({ set: 'repair' })
class Repair {
  @Key() id!: number
  @ManyToOne(() => Bus, 'repairs') bus = ref<Bus>()
}

@Record({ set: 'line' })
class Line {
  @Key() id!: number
  @ManyToMany(() => Bus, 'lines') buses = collection<Bus>()
}

const SETS = [Vehicle, Engine, Seat, Repair, Line]

for (const mode of MODES) {
  describe(`deleting a subclass by its base class, which has no relations (${mode})`, () => {
    let namespace: string
    let db: Database
    useDatabase(mode, [...SETS, Bus, Turbine], (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const bus = session.create(Bus, { id: 1, name: 'red' })
        bus.seats.add(session.create(Seat, { id: 1 }), session.create(Seat, { id: 2 }))
        bus.lines.add(session.create(Line, { id: 1 }))
        return Promise.resolve()
      })
    })

    const mark = (id: number): Promise<unknown> =>
      db.client.operate(new Aerospike.Key(namespace, 'vehicle', id), [Aerospike.operations.write('_sk.deleting', true)])

    const expectGone = async (): Promise<void> => {
      expect(await db.session().find(Vehicle, 1)).to.equal(null)
      expect(await db.session().findMany(Seat, [1, 2])).to.deep.equal([null, null])
      expect(await (await db.session().load(Line, 1)).buses.keys()).to.deep.equal([])
    }

    it('takes along what the subclass says, and its links', async () => {
      expect(await db.session().delete(Vehicle, 1)).to.equal(true)
      await expectGone()
      expect(await db.session().delete(Vehicle, 1)).to.equal(false)
    })

    it('is forbidden where the subclass says so', async () => {
      await db.withSession(async (session) => {
        const bus = await session.load(Bus, 1)
        bus.repairs.add(session.create(Repair, { id: 1 }))
      })
      const refusal = await db
        .session()
        .delete(Vehicle, 1)
        .catch((error: unknown) => error)
      expect(refusal).to.be.instanceOf(RestrictedError)
      expect(await db.session().find(Vehicle, 1)).to.be.instanceOf(Bus)
    })

    it('runs the hooks of the subclass', async () => {
      await db.withSession((session) => {
        session.create(Turbine, { id: 1 })
        session.create(Engine, { id: 2 })
        return Promise.resolve()
      })
      scrapped.length = 0
      for (const id of [1, 2]) expect(await db.session().delete(Engine, id)).to.equal(true)
      expect(scrapped).to.deep.equal([1])
    })

    it('shows nothing of a subclass that is being deleted, also in part', async () => {
      await mark(1)
      expect(await db.session().find(Vehicle, 1)).to.equal(null)
      expect(await db.session().find(Vehicle, 1, { only: ['name'] })).to.equal(null)
      expect(await db.read(Vehicle, [1])).to.deep.equal([null])
      expect(await db.read(Vehicle, [1], { only: ['name'] })).to.deep.equal([null])
    })

    it('finishes all of it when it was cut off', async () => {
      await mark(1)
      expect(await db.sweep(Vehicle)).to.equal(1)
      await expectGone()
    })
  })
}
