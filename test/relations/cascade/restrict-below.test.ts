import { expect } from 'chai'
import { Key, ManyToOne, OneToMany, Record, RestrictedError, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'hotel' })
class Hotel {
  @Key() id!: number
  @OneToMany(() => Floor, 'hotel', { strategy: 'keyList', onDelete: 'cascade' }) floors = collection<Floor>()
}

@Record({ set: 'floor' })
class Floor {
  @Key() id!: number
  @ManyToOne(() => Hotel, 'floors') hotel = ref<Hotel>()
  @OneToMany(() => Room, 'floor', { strategy: 'secondaryIndex', onDelete: 'cascade' }) rooms = collection<Room>()
}

@Record({ set: 'room' })
class Room {
  @Key() id!: number
  @ManyToOne(() => Floor, 'rooms') floor = ref<Floor>()
  @OneToMany(() => Guest, 'room', { strategy: 'keyList', onDelete: 'restrict' }) guests = collection<Guest>()
}

@Record({ set: 'guest' })
class Guest {
  @Key() id!: number
  @ManyToOne(() => Room, 'guests') room = ref<Room>()
}

const CLASSES = [Hotel, Floor, Room, Guest]

for (const mode of MODES) {
  describe(`a relation that forbids a delete below a large collection (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))

    it('is found before anything is deleted', async () => {
      const rooms = Array.from({ length: 18 }, (_, i) => i)
      const session = db.session()
      const hotel = session.create(Hotel, { id: 1 })
      for (let id = 0; id < 6; id++) {
        const floor = session.create(Floor, { id })
        hotel.floors.add(floor)
        for (const room of rooms.slice(id * 3, id * 3 + 3)) floor.rooms.add(Object.assign(new Room(), { id: room }))
      }
      await session.flush({ transactions: 'off' })
      const last = await session.load(Room, 17)
      last.guests.add(Object.assign(new Guest(), { id: 1 }))
      await session.flush()

      const refused = await db
        .session()
        .delete(Hotel, 1, { step: 4 })
        .catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(RestrictedError)
      expect(await (await db.session().load(Hotel, 1)).floors.count()).to.equal(6)
      expect((await db.session().loadMany(Room, rooms)).map(({ floor }) => floor.key)).to.deep.equal(
        rooms.map((id) => Math.floor(id / 3)),
      )

      await db.session().delete(Guest, 1)
      expect(await db.session().delete(Hotel, 1, { step: 4 })).to.equal(true)
      expect(await db.session().findMany(Room, rooms)).to.deep.equal(rooms.map(() => null))
      expect(await db.session().find(Hotel, 1)).to.equal(null)
    })
  })
}
