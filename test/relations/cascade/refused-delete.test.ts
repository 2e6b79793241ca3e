import { expect } from 'chai'
import {
  Key,
  ManyToOne,
  OneToMany,
  Record,
  RestrictedError,
  collection,
  open,
  ref,
  type Database,
  type EntityClass,
} from 'skein'
import { need, startTestServer, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { emptySets } from '../../empty-sets.js'

@Record({ set: 'refused-house' })
class House {
  @Key() id!: number
  @OneToMany(() => Room, 'house', { onDelete: 'restrict' }) rooms = collection<Room>()
  @OneToMany(() => Guest, 'house', { onDelete: 'cascade' }) guests = collection<Guest>()
  @OneToMany(() => Visit, 'house', { strategy: 'secondaryIndex', onDelete: 'cascade' }) visits = collection<Visit>()
  @OneToMany(() => Tree, 'house', { onDelete: 'cascade' }) trees = collection<Tree>()
}

@Record({ set: 'refused-shed' })
class Shed {
  @Key() id!: number
  @OneToMany(() => Tool, 'shed') tools = collection<Tool>()
  @OneToMany(() => Tool, 'lender', { strategy: 'secondaryIndex' }) lent = collection<Tool>()
}

@Record({ set: 'refused-tool' })
class Tool {
  @Key() id!: number
  @ManyToOne(() => Shed, 'tools') shed = ref<Shed>()
  @ManyToOne(() => Shed, 'lent') lender = ref<Shed>()
}

@Record({ set: 'refused-guest' })
class Guest {
  @Key() id!: number
  @ManyToOne(() => House, 'guests') house = ref<House>()
}

@Record({ set: 'refused-visit' })
class Visit {
  @Key() id!: number
  @ManyToOne(() => House, 'visits') house = ref<House>()
}

@Record({ set: 'refused-tree' })
class Tree {
  @Key() id!: number
  @ManyToOne(() => House, 'trees') house = ref<House>()
  @OneToMany(() => Nest, 'tree', { onDelete: 'restrict' }) nests = collection<Nest>()
}

@Record({ set: 'refused-nest' })
class Nest {
  @Key() id!: number
  @ManyToOne(() => Tree, 'nests') tree = ref<Tree>()
}

@Record({ set: 'refused-room' })
class Room {
  @Key() id!: number
  @ManyToOne(() => House, 'rooms') house = ref<House>()
}

const CLASSES = [House, Room, Guest, Visit, Tree, Nest, Shed, Tool]

for (const mode of ['ap', 'sc'] as const) {
  describe(`a parent that is marked for deletion and stays (${mode})`, () => {
    let server: TestServer
    let db: Database
    before(async function () {
      server = await startTestServer()
      const namespace = need(this, server[mode], `no ${mode} namespace`)
      db = await open({ hosts: server.hosts, namespace, entities: CLASSES })
      await db.indexes.sync()
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })
    beforeEach(async () => {
      await emptySets(db, CLASSES)
      await db.withSession(async (session) => {
        const house = session.create(House, { id: 1 })
        house.rooms.add(session.create(Room, { id: 101 }), session.create(Room, { id: 102 }))
        house.guests.add(session.create(Guest, { id: 1 }))
        house.visits.add(session.create(Visit, { id: 1 }))
        house.trees.add(session.create(Tree, { id: 1 }))
      })
    })

    const stored = (classes: readonly EntityClass[]) =>
      Promise.all(classes.map(async (entity) => (await db.session().find(entity, 1)) !== null))
    const rooms = () => db.session().at(House, 1).collection('rooms').keys()

    it('drops a child that is deleted after its own delete was refused', async () => {
      const session = db.session()
      const house = await session.load(House, 1)
      expect(await rejection(() => session.delete(house))).to.be.instanceOf(RestrictedError)
      await session.delete(Room, 101)
      expect(await rooms()).to.deep.equal([102])
      await session.delete(Room, 102)
      expect(await session.delete(house)).to.equal(true)
      expect(await db.session().find(House, 1)).to.equal(null)
    })

    it('is not deleted by a later flush, although nothing forbids it any more', async () => {
      const session = db.session()
      const house = await session.load(House, 1)
      expect(await rejection(() => session.delete(house))).to.be.instanceOf(RestrictedError)
      for (const id of [101, 102]) await session.delete(Room, id)
      expect(session.isDirty()).to.equal(false)
      await session.flush()
      expect(await stored([House, Guest, Visit, Tree])).to.deep.equal([true, true, true, true])
    })

    it('keeps its other children, and they go with it when it goes', async () => {
      await db.withSession(async (s) => (await s.load(Tree, 1)).nests.add(s.create(Nest, { id: 1 })))
      const session = db.session()
      const house = await session.load(House, 1)
      expect(await rejection(() => session.delete(house))).to.be.instanceOf(RestrictedError)
      for (const id of [101, 102]) await session.delete(Room, id)
      // Refused one level further down, when guests and visits have been reached.
      expect(await rejection(() => session.delete(house))).to.be.instanceOf(RestrictedError)
      expect(await stored([House, Guest, Visit, Tree])).to.deep.equal([true, true, true, true])
      expect((await session.load(Guest, 1)).house.key).to.equal(1)
      session.persist(house)
      await session.flush()
      expect(await stored([House, Guest, Visit, Tree])).to.deep.equal([true, true, true, true])
      await session.delete(Nest, 1)
      expect(await session.delete(house)).to.equal(true)
      expect(await stored([House, Guest, Visit, Tree])).to.deep.equal([false, false, false, false])
    })

    it('takes along what is marked for deletion itself', async () => {
      const session = db.session()
      const [house, guest, visit] = [
        await session.load(House, 1),
        await session.load(Guest, 1),
        await session.load(Visit, 1),
      ]
      for (const entity of [guest, visit]) session.remove(entity)
      for (const id of [101, 102]) await session.delete(Room, id)
      await session.delete(house)
      expect(await stored([House, Guest, Visit])).to.deep.equal([false, false, false])
      expect(session.isDirty()).to.equal(false)
    })

    it('keeps the children that it would have detached, if its delete is called off after a refusal beside it', async () => {
      await db.withSession(async (s) => {
        const [shed, tools] = [s.create(Shed, { id: 1 }), [1, 2].map((id) => s.create(Tool, { id }))]
        shed.tools.add(...tools)
        shed.lent.add(...tools)
        await s.flush()
      })
      const session = db.session()
      const shed = await session.load(Shed, 1, { with: ['tools', 'lent'] })
      const house = await session.load(House, 1)
      session.remove(shed)
      session.remove(house)
      expect(await rejection(() => session.flush())).to.be.instanceOf(RestrictedError)
      session.persist(shed)
      session.persist(house)
      expect(shed.tools.items.map(({ id }) => id)).to.deep.equal([1, 2])
      expect(shed.lent.items.map(({ id }) => id)).to.have.members([1, 2])
      expect(session.isDirty()).to.equal(false)
      await session.flush()
      expect((await db.session().load(Tool, 1)).shed.key).to.equal(1)
      expect((await db.session().load(Tool, 2)).lender.key).to.equal(1)
    })

    it('is only looked at by explain: what a cascade would delete is not marked', async () => {
      const session = db.session()
      for (const id of [101, 102]) await session.delete(Room, id)
      const house = await session.load(House, 1)
      session.remove(house)
      const text = String(await session.explain())
      for (const set of ['guest', 'visit', 'tree']) expect(text).to.match(new RegExp(`delete .*refused-${set}/1`))
      session.persist(house)
      expect(session.isDirty()).to.equal(false)
      expect(await session.find(Guest, 1)).to.not.equal(null)
    })

    it('drops a child that is deleted before the flush that would delete the parent', async () => {
      const session = db.session()
      session.remove(await session.load(House, 1))
      await session.delete(Room, 101)
      await session.close()
      expect(await rooms()).to.deep.equal([102])
    })
  })
}
