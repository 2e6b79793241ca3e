import { expect } from 'chai'
import type { Database } from 'skein'
import { Guest, Hotel, HOTELS } from './ended-link-split-models.js'
import { testSplitFaults } from './split-course.js'

const GUESTS = Array.from({ length: 12 }, (_, i) => i)
/** Guests who have left before the split. */
const LEFT = [1, 4, 5, 8, 11]

const guests = (db: Database, id: string) => db.session().at(Hotel, id).collection('guests')

const stay = (id: number, room: string, hasLeft: boolean): string => `${id} ${room} ${hasLeft ? 'left' : 'stays'}`

testSplitFaults({
  title: 'a split of links, some of which were ended,',
  classes: HOTELS,
  owner: Hotel,
  set: 'ghotel',
  courses: [
    { from: -1, to: 3 },
    { from: 2, to: 4 },
    { from: 2, to: -1 },
  ],
  every: 3,
  begin: (db) =>
    db.withSession((session) => {
      for (const id of [...GUESTS, 12]) session.create(Guest, { id })
    }),
  prepare: async (db, id) => {
    await db.withSession((session) => {
      const hotel = session.create(Hotel, { id })
      for (const guest of GUESTS) hotel.guests.link(guest, { room: `r${guest}`, price: 2 })
    })
    await db.withSession((session) => {
      session
        .at(Hotel, id)
        .collection('guests')
        .unlink(...LEFT)
    })
  },
  split: (db, id, shards) => (shards < 0 ? guests(db, id).merge() : guests(db, id).shard(shards)),
  shown: async (db, id) => {
    const [there, left] = [await guests(db, id).keys(), await guests(db, id).keys({ deleted: 'only' })]
    expect(await guests(db, id).count()).to.equal(there.length)
    const stays: string[] = []
    for (const guest of [...there, ...left].sort((a, b) => a - b)) {
      const found = (await guests(db, id).attributesOf(guest, { deleted: 'include' }))!
      expect([found.leftAt !== undefined, found.price]).to.deep.equal([left.includes(guest), 2])
      stays.push(stay(guest, found.room, left.includes(guest)))
    }
    return stays
  },
  before: GUESTS.map((id) => stay(id, `r${id}`, LEFT.includes(id))),
  change: async (fresh, db, id) => {
    await fresh.withSession(async (session) => {
      const { guests } = await session.load(Hotel, id)
      guests.unlink(0, 2)
      guests.link(1, { room: 'again', price: 2 })
      guests.link(12, { room: 'new', price: 2 })
      await guests.restore(4)
    })
    await db.withSession((session) => void session.at(Guest, 3).collection('hotels').unlink(id))
  },
  after: [...GUESTS, 12].map((id) => {
    const room =
      new Map([
        [1, 'again'],
        [12, 'new'],
      ]).get(id) ?? `r${id}`
    return stay(id, room, [0, 2, 3, 5, 8, 11].includes(id))
  }),
})
