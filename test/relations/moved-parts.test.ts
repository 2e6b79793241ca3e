import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, collection, type Database, type Session } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { addFault } from '../until-hit.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Line {
  @Key() id!: string
  @Bin() quantity!: number
}

@Record({ set: 'moved-order' })
class Order {
  @Key() id!: number
  @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
  @OneToMany(() => Line, { strategy: 'consolidate', sortKey: ['quantity'] }) sorted = collection<Line>()
}

@Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' })
class Store {
  @Bin() regionId!: string
  @Bin() storeId!: string
}

@Record({ set: 'moved-region' })
class Region {
  @Key() id!: string
  @OneToMany(() => Store, { strategy: 'consolidate' }) stores = collection<Store>()
}

const CLASSES = [Order, Region]
const line = (id: string): Line => Object.assign(new Line(), { id, quantity: 1 })
const store = (values: Partial<Store>): Store => Object.assign(new Store(), values)

for (const mode of MODES) {
  describe(`a consolidated child that goes to another record (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const first = session.create(Order, { id: 1 })
        first.lines.add(line('a'), line('b'))
        first.sorted.add(line('a'))
        session.create(Order, { id: 2 })
        return Promise.resolve()
      })
    })
    afterEach(() => server.embedded?.faults.clear())

    for (const name of ['lines', 'sorted'] as const) {
      const ids = async (id: number): Promise<string[]> =>
        (await db.session().load(Order, id))[name].items.map((each) => each.id).sort()
      const move = async (session: Session): Promise<readonly Order[]> => {
        const [first, second] = await session.loadMany(Order, [1, 2])
        const moved = first[name].items.find((each) => each.id === 'a')!
        first[name].remove(moved)
        second[name].add(moved)
        return [first, second]
      }
      const rest = name === 'lines' ? ['b'] : []

      it(`is moved, in ${name}`, async () => {
        const session = db.session()
        await move(session)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect([await ids(1), await ids(2)]).to.deep.equal([rest, ['a']])
      })

      for (const key of [1, 2]) {
        it(`is never in none of the two, in ${name}, when the write of order ${key} fails`, async function () {
          const session = db.session()
          await move(session)
          await addFault(this, server, { kind: 'write', set: 'moved-order', key, answer: 8 })
          await rejection(() => session.flush())
          const stored = [await ids(1), await ids(2)]
          expect(stored.flat()).to.include('a')
          if (mode === 'sc') expect(stored).to.deep.equal([[...rest, 'a'].sort(), []])
          await session.flush()
          expect([await ids(1), await ids(2)]).to.deep.equal([rest, ['a']])
        })
      }

      it(`takes the record it goes to along when the one it leaves is saved, in ${name}`, async () => {
        const session = db.session()
        const [first] = await move(session)
        await session.save(first)
        expect([await ids(1), await ids(2)]).to.deep.equal([rest, ['a']])
      })
    }

    it('is refused where its id names the record it comes from, and one that names another from the start', async () => {
      const session = db.session()
      const [first, second] = ['r1', 'r2'].map((id) => session.create(Region, { id }))
      first.stores.add(store({ storeId: 's7' }))
      await session.flush()
      expect(first.stores.items[0].regionId).to.equal('r1')
      expect(() => second.stores.add(first.stores.items[0])).to.throw('belongs to Region')
      expect(() => second.stores.add(store({ regionId: 'r9', storeId: 's8' }))).to.throw('belongs to Region')
      second.stores.add(store({ regionId: 'r2', storeId: 's8' }))
      await session.flush()
      expect((await db.session().loadPart(Store, 'r2:s8')).storeId).to.equal('s8')
    })
  })
}
