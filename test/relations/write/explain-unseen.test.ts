import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Database, type Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Note {
  @Key() id!: number
  @ManyToOne(() => Child) about = ref<Child>()
}

@Record({ set: 'unseen_parent' })
class Parent {
  @Key() id!: number
  @OneToMany(() => Child, 'parent', { onDelete: 'cascade' }) children = collection<Child>()
  @OneToMany(() => Guest, 'parent', { strategy: 'secondaryIndex', onDelete: 'detach' }) guests = collection<Guest>()
}

@Record({ set: 'unseen_child' })
class Child {
  @Key() id!: number
  @Bin() name!: string
  @ManyToOne(() => Parent, 'children') parent = ref<Parent>()
}

@Record({ set: 'unseen_guest' })
class Guest {
  @Key() id!: number
  @ManyToOne(() => Parent, 'guests') parent = ref<Parent>()
}

@Record({ set: 'unseen_pad' })
class Pad {
  @Key() id!: number
  @OneToMany(() => Note, { strategy: 'consolidate', inverseIndex: { about: { onTargetDelete: 'delete' } } })
  notes = collection<Note>()
  @OneToMany(() => Child) marked = collection<Child>()
}

const IDS = [1, 2, 3]

for (const mode of MODES) {
  describe(`the plan of an explain that is under way (${mode})`, () => {
    let db: Database
    let session: Session
    let parent: Parent
    let pad: Pad
    useDatabase(mode, [Parent, Child, Guest, Pad], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((made) => {
        const stored = made.create(Parent, { id: 1 })
        for (const id of IDS) {
          stored.children.add(made.create(Child, { id, name: `child ${id}` }))
          stored.guests.add(made.create(Guest, { id }))
        }
        made.create(Pad, { id: 1 })
        return Promise.resolve()
      })
      session = db.session()
      parent = await session.load(Parent, 1, { with: ['children', 'guests'] })
      pad = await session.load(Pad, 1)
      // A note that is to go with the child it is about, and a link that is to be taken back.
      const note = Object.assign(new Note(), { id: 1 })
      note.about.set(parent.children.items[0])
      pad.notes.add(note)
      pad.marked.add(parent.children.items[1])
      parent.children.add(session.create(Child, { id: 4, name: 'new' }))
      session.remove(parent)
    })

    const shown = (): unknown => ({
      entities: [...parent.children.items, ...parent.guests.items, pad].map((entity) => [
        session.changes(entity),
        session.isDirty(entity),
      ]),
      refs: [...parent.children.items, ...parent.guests.items].map((entity) => entity.parent.key),
      notes: pad.notes.items.map(({ id, about }) => [id, about.key]),
    })

    it('is not seen in changes, references and collections, nor afterwards', async () => {
      const before = shown()
      let isDone = false
      const explained = session.explain().finally(() => (isDone = true))
      let looks = 0
      while (!isDone) {
        expect(shown()).to.deep.equal(before)
        looks++
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(String(await explained)).to.match(/delete Child/)
      expect(looks).to.be.above(0)
      expect(shown()).to.deep.equal(before)
    })

    it('hides nobody from loads and questions', async () => {
      let isDone = false
      const explained = session.explain().finally(() => (isDone = true))
      while (!isDone) {
        const found = await Promise.all(IDS.map((id) => session.find(Child, id)))
        expect(found.map((child) => child?.id)).to.deep.equal(IDS)
        expect(await pad.marked.keys()).to.deep.equal([2])
        expect([await pad.marked.count(), await pad.marked.contains(2)]).to.deep.equal([1, true])
      }
      await explained
      await session.flush()
      expect(await db.session().findMany(Child, IDS)).to.deep.equal([null, null, null])
    })
  })
}
