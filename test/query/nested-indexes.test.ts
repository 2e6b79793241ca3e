import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  SkeinError,
  collection,
  inc,
  open,
  type Database,
  type FilterFields,
} from 'skein'
import { startEmbedded } from 'skein/embedded'
import { problemsOf } from '../model/problems-of.js'
import { MODES, PATIENT } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Place {
  @Index() @Bin({ type: 'int' }) height?: number
  @Index() @Bin() canton?: string
}

@Embeddable()
class Address {
  @Index() @Bin() city!: string
  @Index() @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Embedded(() => Place) place?: Place
}

@Record({ set: 'ni_house' })
@Index({ name: 'ni_house_value', of: (house: FilterFields<House>) => house.price.times(house.rooms) })
@Index({ name: 'ni_house_words', of: (house: FilterFields<House>) => house.words.size })
class House {
  @Key() id!: number
  @Embedded(() => Address) address?: Address
  @Embedded(() => Place, { layout: 'bins' }) spot?: Place
  @Bin({ type: 'int' }) price!: number
  @Bin({ type: 'int' }) rooms!: number
  @Bin({ type: { list: 'string' } }) words: string[] = []
}

const NAMES = [
  'ni_house_address_city',
  'ni_house_address_place_canton',
  'ni_house_address_place_height',
  'ni_house_address_tags_items',
  'ni_house_spot_canton',
  'ni_house_spot_height',
  'ni_house_value',
  'ni_house_words',
]

for (const mode of MODES) {
  describe(`indexes on fields of parts and on calculated values (${mode})`, () => {
    let db: Database
    useDatabase(mode, [House], (opened) => ({ db } = opened), { emptied: 'once' })
    const houses: House[] = []
    before(async () => {
      await db.withSession((session) => {
        for (let id = 0; id < 200; id++) {
          const house = session.create(House, { id, price: id, rooms: id % 5, words: ['a', 'b', 'c'].slice(0, id % 4) })
          if (id % 10 !== 9) {
            const place = Object.assign(new Place(), { height: id * 3, canton: id % 2 ? 'BE' : 'ZH' })
            house.address = Object.assign(new Address(), { city: `c${id % 7}`, tags: [`t${id % 3}`, 'all'], place })
            house.spot = Object.assign(new Place(), { height: id, canton: id % 2 ? 'BE' : 'ZH' })
          }
          houses.push(house)
        }
        return Promise.resolve()
      })
    })

    const keys = async (query: ReturnType<typeof db.query<House>>): Promise<number[]> =>
      ((await query.keys()) as number[]).sort((a, b) => a - b)
    const ids = (holds: (house: House) => boolean): number[] => houses.filter(holds).map(({ id }) => id)

    it('are created by sync, and then nothing is missing or unused', async () => {
      const diff = await db.indexes.diff()
      expect([...diff.missing, ...diff.building, ...diff.different, ...diff.unused]).to.deep.equal([])
      await db.client.indexRemove(db.model.entity(House).namespace, 'ni_house_address_place_height')
      await db.client.indexRemove(db.model.entity(House).namespace, 'ni_house_value')
      const { missing } = await db.indexes.diff()
      expect(missing.map(({ name }) => name).sort()).to.deep.equal(['ni_house_address_place_height', 'ni_house_value'])
      expect(missing[0]).to.include({ className: 'House', property: 'address.place.height', bin: 'address' })
      expect(missing[0].steps).to.deep.equal(['place', 'height'])
      const progress: string[] = []
      await db.indexes.sync({ onProgress: ({ index }) => progress.push(index) })
      expect([...new Set(progress)].sort()).to.deep.equal(['ni_house_address_place_height', 'ni_house_value'])
      expect((await db.indexes.diff()).missing).to.deep.equal([])
    })

    it('are listed as unused where the model does not need them, and can be dropped', async () => {
      const other = await open({
        hosts: db.client.config.hosts,
        namespace: db.model.entity(House).namespace,
        entities: [Bare],
        ...PATIENT,
      })
      const unused = (await other.indexes.diff()).unused.map(({ name }) => name)
      expect(unused.sort()).to.deep.equal(NAMES)
      await other.close()
    })

    const cases: [string, (db: Database) => ReturnType<typeof db.query<House>>, (house: House) => boolean][] = [
      [
        'ni_house_address_city',
        (db) => db.query(House).where({ address: { city: 'c3' } }),
        ({ address }) => address?.city === 'c3',
      ],
      [
        'ni_house_address_city',
        (db) => db.query(House).where({ address: { city: { in: ['c1', 'c2'] } } }),
        ({ address }) => address?.city === 'c1' || address?.city === 'c2',
      ],
      [
        'ni_house_address_tags_items',
        (db) => db.query(House).where({ address: { tags: { has: 't1' } } }),
        ({ address }) => address?.tags.includes('t1') === true,
      ],
      [
        'ni_house_address_place_height',
        (db) => db.query(House).where({ address: { place: { height: { between: [30, 90] } } } }),
        ({ address }) => address !== undefined && address.place!.height! >= 30 && address.place!.height! <= 90,
      ],
      [
        'ni_house_spot_canton',
        (db) => db.query(House).where({ spot: { canton: 'BE' }, price: { lt: 50 } }),
        ({ spot, price }) => spot?.canton === 'BE' && price < 50,
      ],
      [
        'ni_house_value',
        (db) => db.query(House).filter((house) => house.price.times(house.rooms).gte(500)),
        ({ price, rooms }) => price * rooms >= 500,
      ],
      [
        'ni_house_value',
        (db) => db.query(House).filter((house) => house.price.times(house.rooms).between(100, 120)),
        ({ price, rooms }) => price * rooms >= 100 && price * rooms <= 120,
      ],
      [
        'ni_house_value',
        (db) => db.query(House).filter((house) => house.price.times(house.rooms).eq(136).and(house.rooms.gt(1))),
        ({ price, rooms }) => price * rooms === 136 && rooms > 1,
      ],
      [
        'ni_house_words',
        (db) => db.query(House).filter((house) => house.words.size.gt(2)),
        ({ words }) => words.length > 2,
      ],
    ]
    for (const [index, query, holds] of cases) {
      it(`answer query ${cases.findIndex((each) => each[1] === query) + 1}, which uses ${index}`, async () => {
        const asked = query(db)
        expect(asked.explain().index).to.equal(index)
        expect(ids(holds)).to.not.deep.equal([])
        expect(await keys(asked)).to.deep.equal(ids(holds))
        expect(await asked.count()).to.equal(ids(holds).length)
        const paged: number[] = []
        for (let page = await asked.page({ count: 7 }); ; page = await asked.page({ count: 7, after: page.next })) {
          paged.push(...page.map(({ id }) => id))
          if (page.next === undefined) break
        }
        expect(paged.sort((a, b) => a - b)).to.deep.equal(ids(holds))
      })
    }

    it('do not answer another calculation', async () => {
      const error = (await rejection(() =>
        db
          .query(House)
          .filter((house) => house.price.plus(house.rooms).gt(3))
          .count(),
      )) as SkeinError
      expect(error).to.include({ code: 'SKEIN_2511' })
      expect(error.message).to.contain('@Index({ name:').and.to.contain('the class House')
    })

    it('find the records of a bulk update, and not again what it moves', async () => {
      const small = db.query(House).filter((house) => house.price.times(house.rooms).between(1, 20))
      const expected = ids(({ price, rooms }) => price * rooms >= 1 && price * rooms <= 20)
      const { written, by } = await small.update({ price: inc(10) })
      expect({ written, by }).to.deep.equal({ written: expected.length, by: 'server' })
      const wide = db.query(House).where({ address: { city: 'c3' } })
      expect((await wide.update({ rooms: 1 })).written).to.equal(ids(({ address }) => address?.city === 'c3').length)
    })
  })
}

@Record({ set: 'ni_house' })
class Bare {
  @Key() id!: number
}

@Record({ set: 'ni_hashed' })
class Hashed {
  @Key() id!: number
  @Index() @Bin() digest!: Uint8Array
  @Index() @Bin() name!: string
}

describe('indexes that cannot be', () => {
  it('on bytes are refused by a server before 7.0, before anything is created', async () => {
    const server = await startEmbedded({ namespaces: ['test:ap'], build: '6.4.0.1' })
    const db = await open({ hosts: server.hosts, namespace: 'test', entities: [Hashed], ...PATIENT })
    const error = await rejection(() => db.indexes.sync())
    expect(error).to.include({ code: 'SKEIN_2590' })
    expect(error)
      .to.have.property('message')
      .that.matches(/Hashed.*digest.*6\.4\.0\.1.*7\.0/)
    expect((await db.indexes.diff()).missing).to.have.length(2)
    await db.close()
    await server.stop()
  })

  it('on calculated values are refused by a server before 8.1, before anything is created', async () => {
    const server = await startEmbedded({ namespaces: ['test:ap'], build: '8.0.0.8' })
    const db = await open({ hosts: server.hosts, namespace: 'test', entities: [House], ...PATIENT })
    expect(await rejection(() => db.indexes.sync())).to.include({ code: 'SKEIN_2590' })
    expect((await db.indexes.diff()).missing).to.have.length(NAMES.length)
    await db.close()
    await server.stop()
  })

  it('look into many parts are a problem of the model', () => {
    @Embeddable()
    class Stop {
      @Key() id!: string
      @Embedded(() => Place) place?: Place
    }
    @Record({ set: 'ni_many' })
    class Many {
      @Key() id!: number
      @Embedded(() => Address, { as: 'array' }) addresses: Address[] = []
      @Embedded(() => Stop, { as: 'map' }) byName = new Map<string, Stop>()
      @OneToMany(() => Stop, { strategy: 'consolidate' }) stops = collection<Stop>()
      @ManyToMany(() => Many, { attributes: () => Place }) others = collection<Many, Place>()
    }
    const problems = problemsOf(Many).map(({ code, property }) => `${code} ${property}`)
    expect(problems).to.have.members(['addresses', 'byName', 'stops', 'others'].map((name) => `SKEIN_1024 ${name}`))
  })

  it('calculate no integer are refused when the database is opened', async () => {
    @Record({ set: 'ni_half' })
    @Index({ name: 'ni_half_price', of: (half: FilterFields<Half>) => half.price.dividedBy(2) })
    class Half {
      @Key() id!: number
      @Bin({ type: 'int' }) price!: number
    }
    const opened = rejection(() => open({ embedded: true, namespace: 'test', entities: [Half] }))
    expect(await opened).to.include({ code: 'SKEIN_1024' })
  })
})
