import { expect } from 'chai'
import Aerospike from 'aerospike'
import {
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  RestrictedError,
  collection,
  ref,
  type Database,
  type EntityClass,
} from 'skein'
import { commandWords } from '../../command-words.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'forbid-box' })
class Box {
  @Key() id!: number
  @OneToMany(() => Toy, 'box', { onDelete: 'restrict' }) toys = collection<Toy>()
}

@Record({ set: 'forbid-toy' })
class Toy {
  @Key() id!: number
  @ManyToOne(() => Box, 'toys') box = ref<Box>()
}

@Record({ set: 'forbid-album' })
class Album {
  @Key() id!: number
  @OneToMany(() => Toy, { onDelete: 'restrict' }) toys = collection<Toy>()
}

@Record({ set: 'forbid-fleet' })
class Fleet {
  @Key() id!: number
  @OneToMany(() => Ship, 'fleet', { strategy: 'secondaryIndex', onDelete: 'restrict' }) ships = collection<Ship>()
}

@Record({ set: 'forbid-ship' })
class Ship {
  @Key() id!: number
  @ManyToOne(() => Fleet, 'ships') fleet = ref<Fleet>()
}

@Record({ set: 'forbid-team' })
class Team {
  @Key() id!: number
  @ManyToMany(() => Player, 'teams', { owner: true, onDelete: 'restrict' }) players = collection<Player>()
}

@Record({ set: 'forbid-player' })
class Player {
  @Key() id!: number
  @ManyToMany(() => Team, 'players') teams = collection<Team>()
}

@Record({ set: 'forbid-desk' })
class Desk {
  @Key() id!: number
  @OneToOne(() => Lamp, 'desk', { owner: true, onDelete: 'restrict' }) lamp = ref<Lamp>()
}

@Record({ set: 'forbid-lamp' })
class Lamp {
  @Key() id!: number
  @OneToOne(() => Desk, 'lamp') desk = ref<Desk>()
}

const CLASSES = [Box, Toy, Album, Fleet, Ship, Team, Player, Desk, Lamp]
const PARENTS: readonly EntityClass<object>[] = [Box, Fleet, Team, Desk]
const LISTING: readonly EntityClass<object>[] = [Box, Album, Team]
const CHILDREN: readonly EntityClass<object>[] = [Toy, Ship, Player, Lamp]

for (const mode of MODES) {
  describe(`a relation that forbids a delete (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const toy = session.create(Toy, { id: 1 })
        session.create(Box, { id: 1 }).toys.add(toy)
        session.create(Box, { id: 2 })
        session.create(Album, { id: 1 }).toys.add(toy)
        session.create(Fleet, { id: 1 }).ships.add(session.create(Ship, { id: 1 }))
        session.create(Fleet, { id: 2 })
        session.create(Team, { id: 1 }).players.add(session.create(Player, { id: 1 }))
        session.create(Desk, { id: 1 }).lamp.set(session.create(Lamp, { id: 1 }))
        return Promise.resolve()
      })
    })

    /** Removes the record as if it had expired: no list is changed. */
    const expire = (set: string, id: number) =>
      db.client.remove(
        new Aerospike.Key(namespace, set, id),
        new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' }),
      )
    const isStored = async (entity: EntityClass<object>, id: number) => (await db.session().find(entity, id)) !== null
    const refused = async (entity: EntityClass<object>): Promise<Error> => {
      const error = await rejection(() => db.session().delete(entity, 1))
      expect(error).to.be.instanceOf(RestrictedError)
      return error as Error
    }

    it('names a member that is still there', async () => {
      expect((await refused(Box)).message).to.include('Box 1 cannot be deleted: toys still has Toy 1.')
      expect((await refused(Album)).message).to.include('toys still has Toy 1.')
      expect((await refused(Fleet)).message).to.include('ships still has Ship 1.')
      expect((await refused(Team)).message).to.include('players still has Player 1.')
      expect((await refused(Desk)).message).to.include('lamp still has Lamp 1.')
      for (const entity of [Box, Album, Fleet, Team, Desk]) expect(await isStored(entity, 1)).to.equal(true)
    })

    it('does not count keys whose record is gone', async () => {
      await expire('forbid-toy', 1)
      await expire('forbid-player', 1)
      for (const entity of LISTING) expect(await db.session().delete(entity, 1)).to.equal(true)
      for (const entity of LISTING) expect(await isStored(entity, 1)).to.equal(false)
    })

    it('does not count a child that names another parent', async () => {
      const key = new Aerospike.Key(namespace, 'forbid-toy', 1)
      await db.client.operate(key, [Aerospike.operations.write('box', 2)])
      expect(await db.session().delete(Box, 1)).to.equal(true)
      expect(await isStored(Toy, 1)).to.equal(true)
    })

    it('looks at so many records at a time, until one is there', async () => {
      await db.withSession((session) => {
        const box = session.create(Box, { id: 1000 })
        for (let id = 1000; id < 1150; id++) box.toys.add(session.create(Toy, { id }))
        return Promise.resolve()
      })
      const look = () => rejection(() => db.session().delete(Box, 1000))
      const first = await commandWords(server, look)
      expect(first).to.include('batch×100')
      for (let id = 1000; id < 1149; id++) await expire('forbid-toy', id)
      expect(await commandWords(server, look)).to.deep.equal([...first, 'batch×50'])
      await expire('forbid-toy', 1149)
      expect(await db.session().delete(Box, 1000)).to.equal(true)
    })

    it('does not count what the same flush deletes', async () => {
      const session = db.session()
      for (const entity of CHILDREN) session.remove(await session.load(entity, 1))
      for (const entity of PARENTS) session.remove(await session.load(entity, 1))
      await session.flush()
      for (const entity of [...PARENTS, ...CHILDREN]) expect(await isStored(entity, 1), entity.name).to.equal(false)
      expect(session.isDirty()).to.equal(false)
    })

    it('does not count what the same flush deletes, whatever was removed first', async () => {
      const session = db.session()
      for (const entity of PARENTS) session.remove(await session.load(entity, 1))
      for (const entity of CHILDREN) session.remove(await session.load(entity, 1))
      await session.flush()
      for (const entity of [...PARENTS, ...CHILDREN]) expect(await isStored(entity, 1), entity.name).to.equal(false)
    })

    it('takes along what the session is to delete', async () => {
      const session = db.session()
      for (const entity of CHILDREN) session.remove(await session.load(entity, 1))
      for (const entity of PARENTS) expect(await session.delete(entity, 1)).to.equal(true)
      for (const entity of CHILDREN) expect(await isStored(entity, 1), entity.name).to.equal(false)
    })

    it('does not count what the same flush moves away or takes out', async () => {
      const session = db.session()
      ;(await session.load(Toy, 1)).box.set(2)
      ;(await session.load(Ship, 1)).fleet.set(2)
      ;(await session.load(Player, 1)).teams.remove(1)
      ;(await session.load(Lamp, 1)).desk.set(null)
      for (const entity of PARENTS) session.remove(await session.load(entity, 1))
      await session.flush()
      for (const entity of PARENTS) expect(await isStored(entity, 1), entity.name).to.equal(false)
      expect(await db.session().at(Box, 2).collection('toys').keys()).to.deep.equal([1])
      expect((await db.session().load(Toy, 1)).box.key).to.equal(2)
      expect((await db.session().load(Ship, 1)).fleet.key).to.equal(2)
      expect(await db.session().at(Player, 1).collection('teams').keys()).to.deep.equal([])
      expect((await db.session().load(Lamp, 1)).desk.key).to.equal(null)
    })

    it('does not count what the same flush takes out by its key, and detaches it', async () => {
      await db.withSession((first) => {
        first.create(Box, { id: 7 }).toys.add(first.create(Toy, { id: 7 }))
        first.create(Fleet, { id: 7 }).ships.add(first.create(Ship, { id: 7 }))
        return Promise.resolve()
      })
      await db.withSession(async (session) => {
        const [box, fleet] = [await session.load(Box, 7), await session.load(Fleet, 7)]
        box.toys.remove(7)
        fleet.ships.remove(7)
        session.remove(box)
        session.remove(fleet)
      })
      const reading = db.session()
      expect([await reading.find(Box, 7), await reading.find(Fleet, 7)]).to.deep.equal([null, null])
      expect([(await reading.load(Toy, 7)).box.key, (await reading.load(Ship, 7)).fleet.key]).to.deep.equal([
        null,
        null,
      ])
    })

    it('counts what was added and is not stored yet', async () => {
      const session = db.session()
      const box = await session.load(Box, 2)
      box.toys.add(session.create(Toy, { id: 2 }))
      session.remove(box)
      expect(await rejection(() => session.flush())).to.be.instanceOf(RestrictedError)
      expect(await isStored(Box, 2)).to.equal(true)
    })
  })
}
