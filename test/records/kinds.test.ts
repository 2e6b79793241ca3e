import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  CreatedAt,
  Embeddable,
  Embedded,
  History,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  SkeinError,
  Version,
  type Database,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { commandWords } from '../command-words.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Stop {
  @Bin() town!: string
}

@Embeddable()
class Ride {
  @Key() id!: number
  @Bin({ type: 'int' }) km = 0
}

@Record({ set: 'knd_vehicle', discriminator: 'kind' })
abstract class Vehicle {
  @Key() id!: number
  @Counter() km = 0
  @Bin({ type: { list: 'string' } }) log: string[] = []
  @Bin({ type: { map: 'int' } }) trips = new Map<string, number>()
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Embedded(() => Stop, { as: 'array' }) stops: Stop[] = []
  @CreatedAt() since?: Date
  @Version() version?: number
}

@Record({ discriminatorValue: 'car' })
class Car extends Vehicle {}

@Record({ discriminatorValue: 'truck' })
class Truck extends Vehicle {}

@Record({ discriminatorValue: 'crane' })
class Crane extends Truck {}

@Record({ set: 'knd_house', discriminator: 'kind' })
abstract class House {
  @Key() id!: number
  @Bin() name?: string
  @OneToMany(() => Room, 'house') rooms = collection<Room>()
  @OneToMany(() => Room, 'owner', { strategy: 'secondaryIndex' }) owned = collection<Room>()
  @ManyToMany(() => Room, 'fans', { owner: true }) likes = collection<Room>()
  @OneToMany(() => Ride, { strategy: 'consolidate' }) rides = collection<Ride>()
}

@Record({ discriminatorValue: 1 })
class Villa extends House {}

@Record({ discriminatorValue: 2 })
class Barn extends House {}

@Record({ discriminatorValue: 3 })
class Tower extends House {
  @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
}

@Record({ discriminatorValue: 4 })
class Mast extends House {
  @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
}

@History({ keep: 3 })
@Record({ set: 'knd_paper', discriminator: 'kind' })
abstract class Paper {
  @Key() id!: number
  @Counter() reads = 0
  @Version() version?: number
}

@Record({ discriminatorValue: 'letter' })
class Letter extends Paper {}

@Record({ discriminatorValue: 'bill' })
class Bill extends Paper {}

@Record({ set: 'knd_room' })
class Room {
  @Key() id!: number
  @ManyToOne(() => House, 'rooms') house = ref<House>()
  @ManyToOne(() => House, 'owned') owner = ref<House>()
  @ManyToMany(() => House, 'likes') fans = collection<House>()
}

const { operations } = Aerospike

const CHANGES: { readonly [name: string]: (session: Session, create?: boolean) => void } = {
  counter: (session, create) => session.at(Car, 7, { create }).counter('km').add(1),
  list: (session, create) => session.at(Car, 7, { create }).list('log').append('x'),
  map: (session, create) => session.at(Car, 7, { create }).map('trips').increment('Bern'),
  set: (session, create) => session.at(Car, 7, { create }).set('tags').add('x'),
}

const LINKS: { readonly [name: string]: (session: Session, create?: boolean) => void } = {
  'a list': (session, create) => session.at(Villa, 7, { create }).collection('rooms').add(1),
  'an index': (session, create) => session.at(Villa, 7, { create }).collection('owned').add(1),
  'two lists': (session, create) => session.at(Villa, 7, { create }).collection('likes').add(1),
  'children in the record': (session, create) =>
    session
      .at(Villa, 7, { create })
      .collection('rides')
      .add(Object.assign(new Ride(), { id: 9 })),
  'a child that is not loaded': (session, create) =>
    void session.at(Villa, 7, { create }).child('rides', 3).increment('km'),
}

const REMOVALS: { readonly [name: string]: (session: Session) => void } = {
  'a list': (session) => session.at(Villa, 7).collection('rooms').remove(2),
  'an index': (session) => session.at(Villa, 7).collection('owned').remove(2),
  'two lists': (session) => session.at(Villa, 7).collection('likes').remove(2),
  'children in the record': (session) => session.at(Villa, 7).collection('rides').remove(3),
}

for (const mode of MODES) {
  describe(`session.at of a class that shares its set (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(
      mode,
      [Vehicle, Car, Truck, Crane, House, Villa, Barn, Tower, Mast, Room, Paper, Letter, Bill],
      (opened) => {
        ;({ db, server, namespace } = opened)
      },
    )

    beforeEach(async () => {
      const session = db.session()
      const [log, trips, tags] = [['t'], new Map([['Bern', 5]]), new Set(['t'])]
      session.create(Truck, { id: 7, km: 3, log, trips, tags, stops: [Object.assign(new Stop(), { town: 'Bern' })] })
      const room = session.create(Room, { id: 1 })
      const other = session.create(Room, { id: 2 })
      const barn = session.create(Barn, { id: 7, name: 'barn' })
      for (const name of ['rooms', 'owned', 'likes'] as const) barn[name].add(other)
      barn.rides.add(Object.assign(new Ride(), { id: 3, km: 4 }))
      expect(room.id).to.equal(1)
      await session.flush()
    })

    const bins = async (set: string, key: number): Promise<object> =>
      (await db.client.get({ ns: namespace, set, key })).bins

    const refused = async (call: Promise<unknown>): Promise<void> => {
      const error: unknown = await call.catch((caught: unknown) => caught)
      expect(error).to.be.instanceOf(SkeinError)
      const { code, cause } = error as SkeinError
      expect(code === 'SKEIN_4001' ? (cause as SkeinError).code : code).to.be.oneOf(['SKEIN_3102', 'SKEIN_3003'])
    }

    it('makes the record with its discriminator, its key and what a new one has', async () => {
      const session = db.session()
      session.at(Car, 1, { create: true }).counter('km').add(2)
      await session.flush()
      expect(await bins('knd_vehicle', 1)).to.include({ kind: 'car', id: 1, km: 2, version: 1 })
      const car = await db.session().load(Vehicle, 1)
      expect(car).to.be.instanceOf(Car)
      expect(car.since).to.be.instanceOf(Date)
    })

    it('loses nothing of several first writers', async () => {
      await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const session = db.session()
          session.at(Car, 2, { create: true }).counter('km').add(1)
          session.at(Car, 2).list('log').append(`w${i}`)
          await session.flush()
        }),
      )
      const car = await db.session().load(Car, 2)
      expect([car.km, car.log.length, car.version]).to.deep.equal([8, 8, 8])
    })

    it('has one winner where first writers of two classes come at once, and the other is refused', async () => {
      const add = async (kind: typeof Car | typeof Crane): Promise<string> => {
        const session = db.session()
        session.at(kind, 3, { create: true }).counter('km').add(1)
        return session.flush().then(
          () => kind.name,
          () => '',
        )
      }
      const winners = (await Promise.all([add(Car), add(Crane), add(Car), add(Crane)])).filter((name) => name !== '')
      const stored = await db.session().load(Vehicle, 3)
      expect(winners).to.deep.equal([stored.constructor.name, stored.constructor.name])
      expect(stored.km).to.equal(2)
    })

    it('changes a record of its class without reading it, by one command', async () => {
      await db.withSession((session) => session.create(Car, { id: 4, km: 1 }))
      const session = db.session()
      const car = session.at(Car, 4)
      car.counter('km').add(1)
      car.list('log').append('x')
      expect(await commandWords(server, () => session.flush())).to.have.length(1)
      expect(await car.counter('km').value()).to.equal(2)
    })

    it('fails for a record that is missing, and makes none', async () => {
      const session = db.session()
      session.at(Car, 5).counter('km').add(1)
      await refused(session.flush())
      expect(await db.session().find(Vehicle, 5)).to.equal(null)
    })

    for (const create of [false, true]) {
      const how = create ? 'with create' : 'without create'
      for (const [name, change] of Object.entries(CHANGES)) {
        it(`changes no ${name} of a record of another class (${how})`, async () => {
          const truck = await bins('knd_vehicle', 7)
          const session = db.session()
          change(session, create)
          await refused(session.flush())
          expect(await bins('knd_vehicle', 7)).to.deep.equal(truck)
        })
      }

      for (const [name, change] of Object.entries(LINKS)) {
        it(`changes nothing of a record of another class through ${name} (${how})`, async () => {
          const before = [await bins('knd_house', 7), await bins('knd_room', 1)]
          const session = db.session()
          change(session, create)
          await refused(session.flush())
          expect([await bins('knd_house', 7), await bins('knd_room', 1)]).to.deep.equal(before)
        })
      }

      it(`changes no record of another class inside a transaction (${how})`, async function () {
        if (mode === 'ap') this.skip()
        const before = [await bins('knd_vehicle', 7), await bins('knd_house', 7), await bins('knd_room', 1)]
        for (const change of [...Object.values(CHANGES), ...Object.values(LINKS)])
          await refused(db.transaction((session) => change(session, create), { attempts: 1 }))
        expect([await bins('knd_vehicle', 7), await bins('knd_house', 7), await bins('knd_room', 1)]).to.deep.equal(
          before,
        )
      })
    }

    for (const [name, change] of Object.entries(REMOVALS)) {
      it(`removes nothing of a record of another class through ${name}, in and outside a transaction`, async () => {
        const before = [await bins('knd_house', 7), await bins('knd_room', 2)]
        const session = db.session()
        change(session)
        await refused(session.flush())
        expect([await bins('knd_house', 7), await bins('knd_room', 2)]).to.deep.equal(before)
        if (mode === 'ap') return
        await refused(db.transaction((inside) => change(inside), { attempts: 1 }))
        expect([await bins('knd_house', 7), await bins('knd_room', 2)]).to.deep.equal(before)
      })
    }

    it('answers no question about a collection by an index from a record of another class', async () => {
      const ask = async (session: Session): Promise<unknown[]> => {
        const owned = session.at(Villa, 7).collection('owned')
        const streamed: unknown[] = []
        for await (const room of owned.stream()) streamed.push(room)
        const page = await owned.page({ count: 5 })
        return [await owned.count(), await owned.keys(), await owned.contains(2), page.length, streamed.length]
      }
      expect(await ask(db.session())).to.deep.equal([0, [], false, 0, 0])
      expect(await db.session().at(Villa, 7).collection('owned').load()).to.have.length(0)
      const barn = await db.session().load(Barn, 7)
      expect([await barn.owned.count(), await barn.owned.contains(2)]).to.deep.equal([1, true])
      expect(await db.session().at(Barn, 7).collection('owned').keys()).to.deep.equal([2])
    })

    const asked = async (session: Session): Promise<readonly unknown[]> => {
      const [car, villa] = [session.at(Car, 7), session.at(Villa, 7)]
      return Promise.all([
        car.counter('km').value(),
        car.list('log').size(),
        car.list('log').get(0),
        car.map('trips').get('Bern'),
        car.map('trips').size(),
        car.set('tags').has('t'),
        car.list('stops').where({ town: 'Bern' }).count(),
        villa.child('rides', 3).get('km'),
        villa.collection('rooms').count(),
        villa.collection('rooms').keys(),
        villa.collection('likes').contains(2),
        villa.collection('rides').count(),
        villa
          .collection('rides')
          .page({ count: 5 })
          .then((page) => page.length),
      ])
    }
    const NOTHING = [0, 0, null, undefined, 0, false, 0, undefined, 0, [], false, 0, 0]

    it('answers no question from a record of another class, and asks in one round trip', async () => {
      const session = db.session()
      const words = await commandWords(server, async () => expect(await asked(session)).to.deep.equal(NOTHING))
      expect(words).to.have.length(1)
    })

    it('answers no question from a record of another class inside a transaction', async function () {
      if (mode === 'ap') this.skip()
      expect(await db.transaction((session) => asked(session))).to.deep.equal(NOTHING)
    })

    it('loads no members of a record of another class', async () => {
      const villa = db.session().at(Villa, 7)
      for (const name of ['rooms', 'likes', 'rides'] as const)
        expect(await villa.collection(name).load(), name).to.have.length(0)
    })

    it('makes and links a record of its class, in and outside a transaction', async () => {
      const work = async (session: Session): Promise<void> => {
        for (const name of ['rooms', 'owned', 'likes'] as const)
          session.at(Villa, 8, { create: true }).collection(name).add(1)
        return Promise.resolve()
      }
      await db.withSession(work)
      if (mode === 'sc') await db.transaction(work)
      const villa = await db.session().load(Villa, 8)
      expect(await bins('knd_house', 8)).to.include({ kind: 1 })
      for (const name of ['rooms', 'owned', 'likes'] as const) expect(await villa[name].keys(), name).to.deep.equal([1])
    })

    it('of a class with a history says that the record is of another class, and keeps nothing of it', async () => {
      await db.withSession((session) => session.create(Bill, { id: 7, reads: 3 }))
      for (const create of [false, true]) {
        const session = db.session()
        session.at(Letter, 7, { create }).counter('reads').add(1)
        await refused(session.flush())
        if (create) {
          const error = await session.flush().catch((caught: unknown) => caught)
          expect(error).to.include({ code: 'SKEIN_3102' })
        }
      }
      expect(await bins('knd_paper', 7)).to.include({ kind: 'bill', reads: 3, version: 1 })
      expect(await db.session().history(Bill, 7).entries()).to.deep.equal([])
      const session = db.session()
      session.at(Letter, 8, { create: true }).counter('reads').add(1)
      await session.flush()
      session.at(Letter, 8).counter('reads').add(1)
      await session.flush()
      expect(await bins('knd_paper', 8)).to.include({ kind: 'letter', reads: 2, version: 2 })
      expect(await db.session().history(Letter, 8).entries()).to.have.length(1)
    })

    it('is one with the entity that is loaded before or after', async () => {
      await db.withSession((session) => session.create(Car, { id: 6, km: 1 }))
      const session = db.session()
      session.at(Car, 6).counter('km').add(1)
      const car = await session.load(Vehicle, 6)
      expect(car.km).to.equal(2)
      session.at(Car, 6).counter('km').add(1)
      expect([car.km, await session.at(Vehicle, 6).counter('km').value()]).to.deep.equal([3, 3])
      await session.flush()
      expect((await db.session().load(Car, 6)).km).to.equal(3)
    })

    it('is refused where the session has the record as another class', async () => {
      const session = db.session()
      await session.load(Vehicle, 7)
      expect(() => session.at(Car, 7).counter('km').add(1)).to.throw('Car 7 is stored as a Truck')
      const other = db.session()
      other.at(Car, 7).counter('km').add(1)
      expect(() => other.at(Truck, 7).counter('km').add(1)).to.throw('is used in this session as a Car')
      await refused(other.load(Truck, 7))
    })

    it('is refused for a class with subclasses, and says which may be named', () => {
      const session = db.session()
      for (const [kind, own] of [
        [Vehicle, 'Car or Crane'],
        [Truck, 'Crane'],
      ] as const)
        expect(() => session.at(kind, 9, { create: true }).counter('km').add(1))
          .to.throw(SkeinError)
          .that.includes({ code: 'SKEIN_2404' })
          .and.has.property('message')
          .that.includes(`, ${own}, `)
    })

    it('adds to a sharded counter of its class, and to none of another class', async () => {
      await db.withSession((session) => {
        session.create(Tower, { id: 20, views: 1 })
        session.create(Mast, { id: 21, views: 1 })
      })
      const add = async (kind: typeof Tower | typeof Mast, id: number): Promise<void> => {
        const session = db.session()
        session.at<Tower>(kind, id).counter('views').add(1)
        await session.flush()
      }
      for (let i = 0; i < 4; i++) {
        await add(Tower, 20)
        await add(Mast, 21)
        await refused(add(Mast, 20))
        await refused(add(Tower, 21))
        await refused(add(Tower, 22))
      }
      if (mode === 'sc') {
        await db.transaction(async (session) => session.at(Tower, 20).counter('views').add(1))
        await refused(db.transaction(async (session) => session.at(Tower, 21).counter('views').add(1), { attempts: 1 }))
      }
      const views = async (id: number): Promise<number> => ((await db.session().load(House, id)) as Tower).views
      expect([await views(20), await views(21)]).to.deep.equal([mode === 'sc' ? 6 : 5, 5])
      expect(await db.session().at(Tower, 20).counter('views').value()).to.equal(await views(20))
      expect(await db.session().at(Tower, 21).counter('views').value()).to.equal(0)
      expect(await db.session().find(House, 22)).to.equal(null)
    })

    it('leaves a record of another class where delete and operate name its key', async () => {
      const truck = await bins('knd_vehicle', 7)
      for (const used of [false, true]) {
        const session = db.session()
        if (used) expect(await session.at(Car, 7).counter('km').value()).to.equal(0)
        await refused(session.operate(Car, 7, [operations.incr('km', 1)]))
        await refused(session.operate(Car, 7, [operations.read('km')]))
        await refused(session.delete(Car, 7))
      }
      expect(await bins('knd_vehicle', 7)).to.deep.equal(truck)
      const session = db.session()
      session.at(Car, 8, { create: true }).counter('km').add(1)
      await session.flush()
      expect(await session.operate(Car, 8, [operations.incr('km', 1), operations.read('km')])).to.include({ km: 2 })
      expect(await session.delete(Car, 8)).to.equal(true)
      expect(await db.session().find(Vehicle, 8)).to.equal(null)
    })
  })
}
