import { expect } from 'chai'
import {
  Bin,
  collection,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  ref,
  SkeinError,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'bac_garage' })
class Garage {
  @Key() id!: number
  @OneToMany(() => Car, 'garage') cars = collection<Car>()
  @OneToMany(() => Car, 'owner', { strategy: 'secondaryIndex' }) owned = collection<Car>()
  @ManyToMany(() => Car, 'fans', { owner: true }) likes = collection<Car>()
  @OneToOne(() => Car, 'main', { owner: true }) star = ref<Car>()
}

@Record({ set: 'bac_vehicle', discriminator: 'kind' })
abstract class Vehicle {
  @Key() id!: number
  @Bin() name?: string
}

@Record({ discriminatorValue: 'car' })
class Car extends Vehicle {
  @ManyToOne(() => Garage, 'cars') garage = ref<Garage>()
  @ManyToOne(() => Garage, 'owned') owner = ref<Garage>()
  @ManyToMany(() => Garage, 'likes') fans = collection<Garage>()
  @OneToOne(() => Garage, 'star') main = ref<Garage>()
}

@Record({ discriminatorValue: 'truck' })
class Truck extends Vehicle {
  @Bin() load?: number
}

type Link = (session: Session) => void
const LINKS: { readonly [name: string]: Link } = {
  'a list of the other side': (session) => session.at(Garage, 1).collection('cars').add(7),
  'an index': (session) => session.at(Garage, 1).collection('owned').add(7),
  'lists on both sides': (session) => session.at(Garage, 1).collection('likes').add(7),
}

for (const mode of MODES) {
  describe(`a record that became one of another class of its set (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Garage, Vehicle, Car, Truck], (opened) => ({ db, namespace } = opened))

    beforeEach(async () => {
      const session = db.session()
      session.create(Garage, { id: 1 })
      session.create(Truck, { id: 7, name: 'truck', load: 3 })
      await session.flush()
    })

    const bins = async (set: string, key: number): Promise<object> =>
      (await db.client.get({ ns: namespace, set, key })).bins

    const failed = async (call: Promise<unknown>): Promise<SkeinError> => {
      const error: unknown = await call.catch((caught: unknown) => caught)
      expect(error).to.be.instanceOf(SkeinError)
      return error as SkeinError
    }
    const refused = async (call: Promise<unknown>): Promise<void> => {
      const error = await failed(call)
      expect(error.message).to.include('stored as another class')
      const cause = error.code === 'SKEIN_4001' ? (error.cause as SkeinError) : error
      expect(cause.code).to.be.oneOf(['SKEIN_3102', 'SKEIN_3003'])
    }

    for (const [name, link] of Object.entries(LINKS)) {
      it(`takes no link by key through ${name}, and nothing is written`, async () => {
        const [truck, garage] = [await bins('bac_vehicle', 7), await bins('bac_garage', 1)]
        const session = db.session()
        link(session)
        await refused(session.flush())
        expect(await bins('bac_vehicle', 7)).to.deep.equal(truck)
        expect(await bins('bac_garage', 1)).to.deep.equal(garage)
      })
    }

    it('takes no partner by key, and nothing is written', async () => {
      const [truck, garage] = [await bins('bac_vehicle', 7), await bins('bac_garage', 1)]
      const session = db.session()
      ;(await session.load(Garage, 1)).star.set(7)
      await refused(session.flush())
      expect(await bins('bac_vehicle', 7)).to.deep.equal(truck)
      expect(await bins('bac_garage', 1)).to.deep.equal(garage)
    })

    it('takes no link by key inside a transaction either', async function () {
      if (mode === 'ap') this.skip()
      for (const link of Object.values(LINKS)) {
        const truck = await bins('bac_vehicle', 7)
        await refused(db.transaction((session) => link(session), { attempts: 1 }))
        expect(await bins('bac_vehicle', 7)).to.deep.equal(truck)
      }
    })

    it('of the class that was asked for is linked as ever', async () => {
      const session = db.session()
      session.create(Car, { id: 8 })
      await session.flush()
      const other = db.session()
      for (const name of ['cars', 'owned', 'likes'] as const) other.at(Garage, 1).collection(name).add(8)
      ;(await other.load(Garage, 1)).star.set(8)
      await other.flush()
      const car = await db.session().load(Car, 8)
      expect([car.garage.key, car.owner.key, await car.fans.keys(), car.main.key]).to.deep.equal([1, 1, [1], 1])
    })
  })
}
