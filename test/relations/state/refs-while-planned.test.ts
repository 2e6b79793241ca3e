import { expect } from 'chai'
import {
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { emptySets } from '../../empty-sets.js'

@Record({ set: 'planned_owner' })
class Owner {
  @Key() id!: number
  @OneToMany(() => Pet, 'owner') pets = collection<Pet>()
  @OneToMany(() => Pet, 'keeper', { strategy: 'secondaryIndex' }) kept = collection<Pet>()
  @OneToOne(() => Pet, 'boss', { owner: true }) helper = ref<Pet>()
  @ManyToMany(() => Pet, 'fans', { owner: true }) likes = collection<Pet>()
}

@Record({ set: 'planned_pet' })
class Pet {
  @Key() id!: number
  @ManyToOne(() => Owner, 'pets') owner = ref<Owner>()
  @ManyToOne(() => Owner, 'kept') keeper = ref<Owner>()
  @OneToOne(() => Owner, 'helper') boss = ref<Owner>()
  @ManyToMany(() => Owner, 'likes') fans = collection<Owner>()
}

const REFS = ['owner', 'keeper', 'boss'] as const
/** Turns of the event loop by which a change comes after what it meets. */
const TURNS = [0, 1, 2, 3, 4, 6, 8]

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

for (const mode of MODES) {
  describe(`references that are changed while something is planned or sent (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Owner, Pet], (opened) => ({ db } = opened))

    const store = async (): Promise<[Session, Owner, Owner, Pet]> => {
      const session = db.session()
      const [one, two] = [session.create(Owner, { id: 1 }), session.create(Owner, { id: 2 })]
      const pet = session.create(Pet, { id: 1 })
      await session.flush()
      return [session, one, two, pet]
    }
    const wrong = async (): Promise<string[]> => {
      const found: string[] = []
      for (const each of [Owner, Pet])
        for await (const finding of db.verify(each, { settle: 0 })) found.push(finding.message)
      return found
    }

    for (const name of REFS) {
      for (const then of ['the first owner', 'nothing'] as const) {
        it(`are as stored when they were changed during their own flush and refreshed: ${name}, to ${then}`, async () => {
          for (const count of TURNS) {
            await emptySets(db, [Owner, Pet])
            const [session, one, two, pet] = await store()
            pet[name].set(two)
            const sending = session.flush()
            await turns(count)
            pet[name].set(then === 'nothing' ? null : one)
            await Promise.all([sending, session.refresh(pet)])
            await session.flush()
            expect(session.isDirty(), `after ${count} turns`).to.equal(false)
            const stored = await db.session().load(Pet, 1)
            expect(stored[name].key, `after ${count} turns`).to.equal(pet[name].key)
            expect(await wrong(), `after ${count} turns`).to.deep.equal([])
          }
        })
      }

      it(`keep what they were set to during their own flush: ${name}`, async () => {
        for (const count of TURNS) {
          await emptySets(db, [Owner, Pet])
          const [session, one, two, pet] = await store()
          pet[name].set(two)
          const sending = session.flush()
          await turns(count)
          pet[name].set(one)
          await sending
          await session.flush()
          expect(session.isDirty(), `after ${count} turns`).to.equal(false)
          expect((await db.session().load(Pet, 1))[name].key, `after ${count} turns`).to.equal(1)
          expect(await wrong(), `after ${count} turns`).to.deep.equal([])
        }
      })

      it(`keep what they were set to while explain reads: ${name}`, async () => {
        for (const count of TURNS) {
          await emptySets(db, [Owner, Pet])
          const [first, one, , pet] = await store()
          pet[name].set(one)
          await first.flush()
          const session = db.session()
          const [gone, other] = await session.loadMany(Owner, [1, 2])
          const mine = await session.load(Pet, 1)
          session.remove(gone)
          const explaining = session.explain()
          await turns(count)
          mine[name].set(other)
          await explaining
          expect(mine[name].key, `after ${count} turns`).to.equal(2)
          await session.flush()
          expect(session.isDirty(), `after ${count} turns`).to.equal(false)
          expect((await db.session().load(Pet, 1))[name].key, `after ${count} turns`).to.equal(2)
          expect(await wrong(), `after ${count} turns`).to.deep.equal([])
        }
      })
    }

    it('are what they were before explain, where nobody has changed them', async () => {
      const [first, one, , pet] = await store()
      pet.owner.set(one)
      await first.flush()
      const session = db.session()
      const gone = await session.load(Owner, 1, { with: ['pets'] })
      const added = session.create(Pet, { id: 2 })
      gone.pets.add(added)
      session.remove(gone)
      await session.explain()
      expect(gone.pets.items.map(({ id }) => id)).to.deep.equal([1, 2])
      expect([gone.pets.items[0].owner.key, added.owner.key]).to.deep.equal([1, 1])
    })

    it('stay linked to many when that is done while explain reads', async () => {
      for (const count of TURNS) {
        await emptySets(db, [Owner, Pet])
        const [session, one, two, pet] = await store()
        pet.owner.set(one)
        await session.flush()
        session.remove(one)
        const explaining = session.explain()
        await turns(count)
        two.likes.add(pet)
        await explaining
        await session.flush()
        expect(await db.session().at(Owner, 2).collection('likes').keys(), `after ${count} turns`).to.deep.equal([1])
      }
    })
  })
}
