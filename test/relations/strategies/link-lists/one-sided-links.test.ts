import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, Record, collection, type Database, type KeyValue } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Finish {
  @Bin() coats!: number
}

@Record({ set: 'color' })
class Color {
  @Key() id!: number
}

@Record({ set: 'car' })
class Car {
  @Key() id!: number
  @ManyToMany(() => Color) colors = collection<Color>()
  @ManyToMany(() => Color, { attributes: () => Finish }) finishes = collection<Color, Finish>()
}

for (const mode of MODES) {
  describe(`links that only one side stores (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Color, Car], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2, 3, 4, 5]) session.create(Color, { id })
        const car = session.create(Car, { id: 1 })
        car.colors.add(1, 2, 3)
        car.finishes.link(1, { coats: 1 })
        car.finishes.link(2, { coats: 2 })
      })
    })

    const colors = (): Promise<readonly KeyValue[]> => db.session().at(Car, 1).collection('colors').keys()
    const coats = async (): Promise<(number | undefined)[]> => {
      const { finishes } = await db.session().load(Car, 1)
      return Promise.all([1, 2, 3].map(async (key) => (await finishes.attributesOf(key))?.coats))
    }

    it('are all stored with a new entity', async () => {
      expect(await colors()).to.deep.equal([1, 2, 3])
      expect(await coats()).to.deep.equal([1, 2, undefined])
    })

    it('come and go several at a time, by key and by entity', async () => {
      const session = db.session()
      const unread = session.at(Car, 1).collection('colors')
      unread.add(3, 4, 5)
      await session.flush()
      expect(await colors()).to.deep.equal([1, 2, 3, 4, 5])
      unread.remove(1, 3, 4)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await colors()).to.deep.equal([2, 5])
      const car = await session.load(Car, 1, { with: ['colors'] })
      car.colors.add(...(await session.loadMany(Color, [1, 3, 4])))
      await session.flush()
      expect(await colors()).to.deep.equal([1, 2, 3, 4, 5])
    })

    it('have attributes that change several at a time', async () => {
      const session = db.session()
      const { finishes } = await session.load(Car, 1)
      for (const key of [1, 2]) (await finishes.attributesOf(key))!.coats += 10
      finishes.link(3, { coats: 3 })
      await session.flush()
      expect(await coats()).to.deep.equal([11, 12, 3])
    })
  })
}
