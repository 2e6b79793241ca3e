import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Key,
  OneToMany,
  Record,
  Sharded,
  collection,
  type Database,
  type Finding,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { addFault } from '../../../until-hit.js'
import { useDatabase } from '../../../use-database.js'

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

@Embeddable({ key: '{depotId}:{boxId}', parent: 'depotId' })
class Box {
  @Bin() depotId!: number
  @Bin() boxId!: string
  @Bin() weight!: number
}

@Record({ set: 'moved-depot' })
class Depot {
  @Key() id!: number
  @OneToMany(() => Box, { strategy: 'consolidate' }) boxes = collection<Box>()
}

@Embeddable()
class Remark {
  @Key() id!: string
  @OneToMany(() => Remark, { strategy: 'consolidate' }) replies = collection<Remark>()
}

@Record({ set: 'moved-hall' })
class Hall {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 }) @OneToMany(() => Remark, { strategy: 'consolidate' }) remarks =
    collection<Remark>()
}

const CLASSES = [Order, Region, Depot, Hall]
const remark = (id: string, ...replies: Remark[]): Remark => {
  const made = Object.assign(new Remark(), { id })
  made.replies.add(...replies)
  return made
}
const line = (id: string): Line => Object.assign(new Line(), { id, quantity: 1 })
const box = (values: Partial<Box>): Box => Object.assign(new Box(), values)
const store = (values: Partial<Store>): Store => Object.assign(new Store(), values)

for (const mode of MODES) {
  describe(`a consolidated child that goes to another record (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
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

    it('leaves nothing to send beside others that come to the record that it leaves', async () => {
      await db.withSession((session) => {
        for (const id of [1, 2]) session.create(Hall, { id }).remarks.add(remark('a', remark('b')))
      })
      const session = db.session()
      const [first, second] = await session.loadMany(Hall, [1, 2], { with: ['remarks'] })
      const [from, to] = [first.remarks.items[0].replies, second.remarks.items[0].replies]
      const moved = from.items[0]
      from.remove(moved)
      to.add(Object.assign(moved, { id: 'b' }))
      from.add(remark('c'))
      first.remarks.add(remark('f'), remark('g'))
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const stored = await db.session().loadMany(Hall, [1, 2], { with: ['remarks'] })
      const replies = stored.map(({ remarks }) => remarks.items[0].replies.items.map(({ id }) => id))
      expect(replies).to.deep.equal([['c'], ['b']])
    })

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

    it('is reported by verify where it is stored in a record that its id does not lead to', async () => {
      const session = db.session()
      session.create(Region, { id: 'r1' }).stores.add(store({ storeId: 's7' }))
      session.create(Region, { id: 'r2' }).stores.add(store({ storeId: 's8' }))
      session.create(Depot, { id: 7 }).boxes.add(box({ boxId: 'b1', weight: 2 }))
      await session.flush()
      const { maps } = Aerospike
      const foreign: [string, string | number, string, string, object][] = [
        ['moved-region', 'r2', 'stores', 'r1:s7', { regionId: 'r1', storeId: 's7' }],
        ['moved-depot', 8, 'boxes', '7:b9', { depotId: 7, boxId: 'b9', weight: 1 }],
      ]
      session.create(Depot, { id: 8 })
      await session.flush()
      for (const [set, key, bin, id, part] of foreign) {
        await db.client.operate(new Aerospike.Key(namespace, set, key), [maps.put(bin, id, part as never)])
      }
      const findings: Finding[] = []
      for await (const finding of db.verify([Region, Depot], { settle: 0, repair: true })) findings.push(finding)
      expect(
        findings.map(({ kind, key, partKey, otherClass, otherKey, repair, state }) => [
          [kind, key, partKey],
          [otherClass, otherKey],
          [repair, state],
        ]),
      ).to.have.deep.members([
        [
          ['misplacedPart', 'r2', 'r1:s7'],
          ['Region', 'r1'],
          ['none', 'found'],
        ],
        [
          ['misplacedPart', 8, '7:b9'],
          ['Depot', 7],
          ['none', 'found'],
        ],
      ])
      expect(findings.map(({ message }) => message)).to.include(
        'Region "r2" keeps "r1:s7" in stores, whose key leads to Region "r1".',
      )
    })
  })
}
