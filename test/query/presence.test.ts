import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Index, Key, Record, type Database, type Query } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qn${process.pid}${Date.now() % 1e6}`

@Embeddable()
class Address {
  @Bin() city!: string
  @Embedded(() => Address) next?: Address
}

/** Its properties have the names of operators. */
@Embeddable()
class Signs {
  @Bin() ne?: string
  @Bin() eq?: string
}

@Record({ set: `${unique}h` })
class House {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) rooms = 1
  @Embedded(() => Address) address?: Address
  @Embedded(() => Address, { layout: 'bins', prefix: 'o_' }) office?: Address
  @Embedded(() => Address, { as: 'array' }) others?: Address[]
  @Embedded(() => Signs) signs?: Signs
  @Bin({ type: 'json' }) extra?: unknown
  @Bin({ type: 'geojson' }) place?: { type: 'Point'; coordinates: number[] }
  @Bin({ type: { list: 'string' } }) tags?: string[]
  @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
}

for (const mode of MODES) {
  describe(`conditions on what is stored at all (${mode})`, () => {
    let db: Database
    useDatabase(mode, [House], (opened) => ({ db } = opened), { emptied: 'once' })

    before(() =>
      db.withSession((session) => {
        const address = Object.assign(new Address(), { city: 'Bern' })
        session.persist(Object.assign(new House(), { id: 1 }))
        const full = { address, office: address, others: [address], extra: { a: 1 }, tags: [], scores: new Map() }
        const place = { type: 'Point', coordinates: [7, 46] }
        const nested = Object.assign(new Address(), { city: 'Thun', next: address })
        session.persist(Object.assign(new House(), { id: 2, ...full, place }))
        session.persist(Object.assign(new House(), { id: 3, address: nested, signs: new Signs() }))
        session.persist(
          Object.assign(new House(), { id: 4, signs: Object.assign(new Signs(), { ne: 'x' }), extra: [] }),
        )
      }),
    )
    const ids = async (query: Query<House>): Promise<number[]> => ((await query.keys()) as number[]).sort()

    it('hold for values, parts, lists, maps, json and geojson', async () => {
      const all = db.scan(House)
      for (const [stored, missing, expected] of [
        [all.where({ address: { ne: null } }), all.where({ address: { eq: null } }), [2, 3]],
        [all.where({ office: { ne: null } }), all.where({ office: { eq: null } }), [2]],
        [all.where({ others: { ne: null } }), all.where({ others: null }), [2]],
        [all.where({ extra: { ne: null } }), all.where({ extra: { eq: null } }), [2, 4]],
        [all.where({ place: { ne: null } }), all.where({ place: null }), [2]],
        [all.where({ tags: { ne: null } }), all.where({ tags: { eq: null } }), [2]],
        [all.where({ scores: { ne: null } }), all.where({ scores: { eq: null } }), [2]],
        [all.where({ address: { next: { ne: null } } }), all.where({ address: { next: null } }), [3]],
        [all.where({ rooms: { ne: null } }), all.where({ rooms: { eq: null } }), [1, 2, 3, 4]],
      ] as const) {
        expect(await ids(stored)).to.deep.equal(expected)
        expect(await ids(missing)).to.deep.equal(
          [1, 2, 3, 4].filter((id) => !(expected as readonly number[]).includes(id)),
        )
      }
    })

    it('are the same in filter, alone and inside not', async () => {
      const all = db.scan(House)
      expect(await ids(all.filter((h) => h.address.ne(null)))).to.deep.equal([2, 3])
      expect(await ids(all.filter((h) => h.address.ne(null).not()))).to.deep.equal([1, 4])
      expect(await ids(all.filter((h) => h.address.next.eq(null).not()))).to.deep.equal([3])
      expect(await ids(all.filter((h) => h.extra.ne(null).and(h.address.eq(null))))).to.deep.equal([4])
      expect(() => all.filter((h) => h.address.eq('Bern' as never)))
        .to.throw(/'eq' of a part takes null/)
        .with.property('code', 'SKEIN_2510')
    })

    it('leave the names to the properties of a part that has them', async () => {
      expect(await ids(db.scan(House).where({ signs: { ne: 'x' } }))).to.deep.equal([4])
      expect(await ids(db.scan(House).where({ signs: { ne: null } }))).to.deep.equal([1, 2, 3])
      expect(await ids(db.scan(House).filter((h) => h.signs.ne.eq('x')))).to.deep.equal([4])
    })
  })
}
