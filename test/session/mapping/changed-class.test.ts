import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Key, ManyToOne, Record, ref, VersionConflictError } from 'skein'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'cc-vehicle', discriminator: 'kind' })
abstract class Vehicle {
  @Key() id!: number
  @Bin() name?: string
}

@Record({ discriminatorValue: 'car' })
class Car extends Vehicle {
  @Bin() doors?: number
  @ManyToOne(() => Owner) owner = ref<Owner>()
}

@Record({ discriminatorValue: 'truck' })
class Truck extends Vehicle {
  @Bin() load?: number
}

@Record({ set: 'cc-owner' })
class Owner {
  @Key() id!: number
}

for (const mode of MODES) {
  describe(`an entity whose record became another class elsewhere (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Vehicle, Car, Truck, Owner], (opened) => ({ db, namespace } = opened))
    let session: Session
    let car: Car
    beforeEach(async () => {
      await db.withSession((first) => {
        first.create(Car, { id: 1, name: 'car', doors: 4 })
        first.create(Owner, { id: 5 })
      })
      session = db.session()
      car = await session.load(Car, 1)
      await db.session().upsert(Object.assign(new Truck(), { id: 1, name: 'truck', load: 9 }))
    })
    afterEach(async () => {
      expect(await db.session().load(Vehicle, 1)).to.include({ name: 'truck', load: 9 })
      const { bins } = await db.client.get(new Aerospike.Key(namespace, 'cc-vehicle', 1))
      expect(bins).to.not.have.any.keys('doors', 'owner')
    })

    const refused = async (work: () => Promise<unknown>): Promise<void> => {
      const error = await rejection(work)
      expect(error, String(error)).to.be.instanceOf(VersionConflictError)
    }

    it('is not written into, by save, by flush and in a transaction', async () => {
      car.doors = 2
      await refused(() => session.save(car))
      await refused(() => session.flush())
      session.clear()
      if (mode === 'sc') {
        const again = Object.assign(car, { doors: 3 })
        await refused(() => db.transaction((inside) => inside.delete(again)))
      }
    })

    it('is not written into by a reference', async () => {
      car.owner.set(5)
      await refused(() => session.save(car))
    })

    it('is not deleted', async () => {
      await refused(() => session.delete(car))
      expect(
        await db
          .session()
          .delete(Car, 1)
          .catch((error: unknown) => error),
      ).to.not.equal(true)
    })

    it('is one that its own class may still write to', async () => {
      const trucks = db.session()
      const truck = await trucks.load(Truck, 1)
      truck.load = 10
      await trucks.save(truck)
      truck.load = 9
      await trucks.flush()
    })
  })
}
