import { expect } from 'chai'
import { Bin, Index, Key, Record, type Database, type Query } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qe${process.pid}${Date.now() % 1e6}`
const MOST = 2n ** 63n - 1n
const LEAST = -(2n ** 63n)

@Record({ set: `${unique}e` })
class Edge {
  @Key() id!: number
  @Index() @Bin({ type: 'bigint' }) big?: bigint
}

for (const mode of MODES) {
  describe(`values at the edges of a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Edge], (opened) => ({ db } = opened))

    const store = (...values: Partial<Edge>[]): Promise<void> =>
      db.withSession((session) =>
        values.forEach((each, id) => void session.persist(Object.assign(new Edge(), { id }, each))),
      )
    const ids = async (query: Query<Edge>): Promise<number[]> => (await query.toArray()).map(({ id }) => id).sort()

    it('finds nothing beyond the ends of what a bigint holds', async () => {
      await store({ big: MOST }, { big: LEAST }, { big: MOST - 1n })
      const edges = db.query(Edge)
      expect(await ids(edges.where({ big: { gt: MOST } }))).to.deep.equal([])
      expect(await ids(edges.filter((e) => e.big.gt(MOST)))).to.deep.equal([])
      expect(await ids(edges.where({ big: { lt: LEAST } }))).to.deep.equal([])
      expect(await ids(edges.where({ big: { gt: MOST - 1n } }))).to.deep.equal([0])
      expect(await ids(edges.where({ big: { gte: MOST } }))).to.deep.equal([0])
      expect(await ids(edges.where({ big: { lte: MOST } }))).to.deep.equal([0, 1, 2])
    })
  })
}
