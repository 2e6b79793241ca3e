import { expect } from 'chai'
import {
  collection,
  Companion,
  Counter,
  Embeddable,
  EntityGoneError,
  Bin,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
  SkeinError,
  type Database,
  type RecordHandle,
  type Session,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Ride {
  @Key() id!: number
  @Counter() km = 0
}

@Embeddable()
class Visit {
  @Key() id!: number
  @Bin() at!: Date
}

@Record({ set: 'kap_house', discriminator: 'kind' })
abstract class House {
  @Key() id!: number
  @Bin() name?: string
  @Companion({ subkeys: 'likesIn' }) @ManyToMany(() => Room, 'fans', { owner: true }) likes = collection<Room>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'ridesIn' })
  @OneToMany(() => Ride, { strategy: 'consolidate' })
  rides = collection<Ride>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys: 'tripsIn' })
  @OneToMany(() => Ride, { strategy: 'consolidate' })
  trips = collection<Ride>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'visitsIn' })
  @OneToMany(() => Visit, { strategy: 'consolidate' })
  visits = collection<Visit>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys: 'guestsIn' })
  @ManyToMany(() => Room, 'hosts', { owner: true })
  guests = collection<Room>()
  @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
}

@Record({ discriminatorValue: 1 })
class Villa extends House {}

@Record({ discriminatorValue: 2 })
class Barn extends House {}

@Record({ set: 'kap_room' })
class Room {
  @Key() id!: number
  @ManyToMany(() => House, 'likes') fans = collection<House>()
  @ManyToMany(() => House, 'guests') hosts = collection<House>()
}

const ride = (id: number): Ride => Object.assign(new Ride(), { id })
const visit = (id: number): Visit => Object.assign(new Visit(), { id, at: new Date(Date.UTC(2024, 4, id)) })

type Handle = RecordHandle<House>

const ADDS: { readonly [name: string]: (handle: Handle) => unknown } = {
  'members in a companion': (handle) => handle.collection('likes').add(3),
  'members sharded on demand': (handle) => handle.collection('guests').add(3),
  'children in shards': (handle) => handle.collection('rides').add(ride(3)),
  'children sharded on demand': (handle) => handle.collection('trips').add(ride(3)),
  'children by the day': (handle) => handle.collection('visits').add(visit(3)),
  'a sharded counter': (handle) => handle.counter('views').add(1),
}

const CHANGES: typeof ADDS = {
  'a child that is not loaded': (handle) => handle.child('rides', 1).increment('km'),
  'a child sharded on demand that is not loaded': (handle) => handle.child('trips', 1).increment('km'),
  ...ADDS,
  'members taken out of a companion': (handle) => handle.collection('likes').remove(1),
  'members taken out of shards': (handle) => handle.collection('guests').remove(1),
  'children taken out of shards': (handle) => handle.collection('rides').remove(1),
  'children taken out that are sharded on demand': (handle) => handle.collection('trips').remove(1),
  'children taken out of days': (handle) => handle.collection('visits').remove(1),
}

/** Everything that can be asked. */
const answers = (handle: Handle): Promise<readonly unknown[]> =>
  Promise.all([
    handle.collection('likes').count(),
    handle.collection('likes').contains(1),
    handle.collection('guests').count(),
    handle.collection('guests').keys(),
    handle.collection('rides').count(),
    handle.collection('rides').get(1),
    handle.collection('trips').count(),
    handle.collection('trips').contains(1),
    handle.collection('visits').count(),
    handle.child('rides', 1).get('km'),
    handle.counter('views').value(),
  ])

for (const mode of MODES) {
  describe(`session.at of a class that shares its set and has members in companions (${mode})`, () => {
    let db: Database
    useDatabase(mode, [House, Villa, Barn, Room], (opened) => ({ db } = opened))

    beforeEach(async () => {
      const session = db.session()
      const rooms = [1, 2, 3].map((id) => session.create(Room, { id }))
      for (const [kind, id] of [
        [Barn, 7],
        [Villa, 8],
      ] as const) {
        const house = session.create(kind, { id, views: 1 })
        for (const at of [1, 2]) {
          house.likes.add(rooms[at - 1])
          house.guests.add(rooms[at - 1])
          house.rides.add(ride(at))
          house.trips.add(ride(at))
          house.visits.add(visit(at))
        }
      }
      await session.flush()
    })

    /** All that is stored of a house, as its own class loads it. */
    const stored = async (id: number): Promise<unknown> => {
      const session = db.session()
      const house = await session.find(House, id, { with: ['likes', 'guests', 'rides', 'trips', 'visits'] })
      if (house === null) return null
      const { likes, guests, rides, trips, visits, views } = house
      const ids = [likes, guests, rides, trips, visits].map((all) => [...all].map((each: { id: number }) => each.id))
      return {
        kind: house.constructor.name,
        views,
        ids: ids.map((each) => each.sort()),
        km: [...rides, ...trips].map(({ km }) => km),
      }
    }
    const sent = async (change: (handle: Handle) => unknown, id: number, create?: boolean): Promise<unknown> => {
      const session: Session = db.session()
      change(session.at(Villa, id, { create }))
      return session.flush().catch((error: unknown) => error)
    }
    const refused = (error: unknown): void => {
      expect(error).to.be.instanceOf(SkeinError)
      const { code, cause } = error as SkeinError
      expect(code === 'SKEIN_4001' ? (cause as SkeinError).code : code).to.be.oneOf(['SKEIN_3102', 'SKEIN_3003'])
    }

    const findings = async (): Promise<unknown[]> => {
      const all: unknown[] = []
      for await (const finding of db.verify(House)) all.push(finding)
      return all
    }

    for (const create of [false, true])
      it(`changes nothing of a record of another class (${create ? 'with create' : 'without create'})`, async () => {
        const before = await stored(7)
        for (const change of Object.values(CHANGES)) {
          refused(await sent(change, 7, create))
          expect(await stored(7), String(change)).to.deep.equal(before)
        }
        expect(await findings()).to.deep.equal([])
      })

    it('changes a record of its class', async () => {
      let before = await stored(8)
      for (const change of Object.values(CHANGES)) {
        expect(await sent(change, 8), String(change)).to.equal(undefined)
        const after = await stored(8)
        expect(after, String(change)).not.to.deep.equal(before)
        before = after
      }
      expect(before).to.deep.equal({
        kind: 'Villa',
        views: 2,
        ids: [
          [2, 3],
          [2, 3],
          [2, 3],
          [2, 3],
          [2, 3],
        ],
        km: [0, 0, 0, 0],
      })
      expect(await findings()).to.deep.equal([])
    })

    it('makes a record that is missing with create, and none without', async () => {
      for (const [i, [name, change]] of Object.entries(ADDS).entries()) {
        const id = 20 + i
        expect(await sent(change, id), name).to.be.instanceOf(EntityGoneError)
        expect(await stored(id)).to.equal(null)
        expect(await sent(change, id, true), name).to.equal(undefined)
        expect(await sent(change, id, true), name).to.equal(undefined)
        expect(await stored(id)).to.include({ kind: 'Villa', views: name === 'a sharded counter' ? 2 : 0 })
      }
      expect(await findings()).to.deep.equal([])
    })

    it('lets one class win where first writers of two come at once', async () => {
      for (const [i, [name, change]] of Object.entries(ADDS).entries()) {
        const id = 30 + i
        const write = async (kind: typeof Villa): Promise<string> => {
          const session = db.session()
          change(session.at(kind, id, { create: true }))
          return session.flush().then(
            () => kind.name,
            () => '',
          )
        }
        const all = await Promise.all([write(Villa), write(Barn), write(Villa), write(Barn)])
        const house = (await stored(id)) as { readonly kind: string; readonly views: number }
        const won = all.filter((kind) => kind !== '')
        expect([...new Set(won)], name).to.deep.equal([house.kind])
        if (name === 'a sharded counter') expect(house.views).to.equal(won.length)
      }
      expect(await findings()).to.deep.equal([])
    })

    it('answers from records of its class alone', async () => {
      const own = await answers(db.session().at(Villa, 8))
      expect(own.map((one) => (one instanceof Ride ? one.id : one))).to.deep.equal([
        2,
        true,
        2,
        [1, 2],
        2,
        1,
        2,
        true,
        2,
        0,
        1,
      ])
      const nothing = [0, false, 0, [], 0, null, 0, false, 0, undefined, 0]
      expect(await answers(db.session().at(Villa, 7))).to.deep.equal(nothing)
      expect(await answers(db.session().at(Villa, 99))).to.deep.equal(nothing)
    })

    it('loads no members of a record of another class', async () => {
      const session = db.session()
      const other = session.at(Villa, 7)
      for (const name of ['likes', 'guests', 'rides', 'trips', 'visits'] as const) {
        const all = other.collection(name)
        await all.load()
        expect([...all], name).to.deep.equal([])
      }
    })
  })
}
