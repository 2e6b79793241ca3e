import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'animal', discriminator: 'kind', discriminatorValue: 'animal' })
class Animal {
  @Key() id!: number
}

@Record({ discriminatorValue: 'dog' })
class Dog extends Animal {
  @Bin() name?: string
}

@Embeddable()
class Visit {
  @Key() id!: string
  @ManyToOne(() => Animal) guest = ref<Animal>()
}

@Record({ set: 'keeper', discriminator: 'kind', discriminatorValue: 'keeper' })
class Keeper {
  @Key() id!: number
  @ManyToOne(() => Animal) pet = ref<Animal>()
  @OneToMany(() => Animal) zoo = collection<Animal>()
  @ManyToMany(() => Animal) likes = collection<Animal>()
  @OneToMany(() => Visit, {
    strategy: 'consolidate',
    inverseIndex: { guest: { name: 'guests', onTargetDelete: 'delete' } },
  })
  visits = collection<Visit>()
}

@Record({ discriminatorValue: 'ranger' })
class Ranger extends Keeper {}

const visit = (id: string, guest: number): Visit => {
  const made = Object.assign(new Visit(), { id })
  made.guest.set(guest)
  return made
}

for (const mode of MODES) {
  describe(`links to a subclass of what the relation names (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Animal, Dog, Keeper, Ranger], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        session.create(Dog, { id: 1 })
        session.create(Keeper, { id: 1 })
        return Promise.resolve()
      })
    })

    function link(keeper: Keeper, dog: Dog | number): void {
      keeper.pet.set(dog)
      for (const members of [keeper.zoo, keeper.likes]) members.add(dog)
    }

    async function expectNoLinks(): Promise<void> {
      const keeper = await db.session().load(Keeper, 1)
      expect(keeper.pet.key).to.equal(null)
      for (const members of [keeper.zoo, keeper.likes]) expect(await members.keys()).to.deep.equal([])
    }

    it('vanish from all that the session has loaded when it is deleted', async () => {
      await db.withSession(async (session) => link(await session.load(Keeper, 1), 1))
      for (const by of ['entity', 'key', 'flush']) {
        const session = db.session()
        const keeper = await session.load(Keeper, 1, { with: ['pet', 'zoo', 'likes'] })
        const dog = (await session.load(Animal, 1)) as Dog
        if (by === 'entity') await session.delete(dog)
        else if (by === 'key') await session.delete(Dog, 1)
        else {
          session.remove(dog)
          await session.flush()
        }
        expect(keeper.pet.value).to.equal(null)
        expect([...keeper.zoo, ...keeper.likes]).to.deep.equal([])
        await db.withSession((again) => Promise.resolve(again.create(Dog, { id: 1 })))
      }
    })

    it('are given up when they were not sent yet', async () => {
      const session = db.session()
      const dog = (await session.load(Animal, 1)) as Dog
      link(await session.load(Keeper, 1), dog)
      session.remove(dog)
      await session.flush()
      await expectNoLinks()
    })

    it('are given up when it is deleted by its key, by whichever class', async () => {
      for (const named of [Dog, Animal]) {
        const session = db.session()
        link(await session.load(Keeper, 1), 1)
        expect(await session.delete(named, 1)).to.equal(true)
        await session.flush()
        await expectNoLinks()
        await db.withSession((again) => Promise.resolve(again.create(Dog, { id: 1 })))
      }
    })

    it('are given up when it was new and is not stored after all', async () => {
      const session = db.session()
      const dog = session.create(Dog, { id: 2 })
      link(await session.load(Keeper, 1), dog)
      session.remove(dog)
      await session.flush()
      await expectNoLinks()
    })

    it('take consolidated children along where the index of the base class says so', async () => {
      for (const named of [Dog, Animal]) {
        await db.withSession(async (session) => {
          await session.upsert(Object.assign(new Dog(), { id: 1 }))
          for (const [id, kind] of [Keeper, Ranger].entries()) {
            const keeper = Object.assign(new kind(), { id: 10 + id })
            keeper.visits.add(visit('a', 1), visit('b', 2))
            await session.upsert(keeper)
          }
        })
        expect(await db.session().delete(named, 1)).to.equal(true)
        for (const keeper of await db.session().loadMany(Keeper, [10, 11]))
          expect([...keeper.visits].map(({ id }) => id)).to.deep.equal(['b'])
      }
    })
  })
}
