import Aerospike, { type Client, type Query } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../official-client.js'
import { createIndex, keyOf, putAll, sorted } from './query-client.js'

const { filter, indexType, Key } = Aerospike

describe('A query in pages', () => {
  const COUNT = 500
  let connected: Connected
  let client: Client

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
    await putAll(client, 'demo', COUNT, (id) => ({ n: id % 7, s: `s${id % 2}`, l: [id % 50, (id % 50) + 1], id }))
    await createIndex(client, 'on_n', { bin: 'n' })
    await createIndex(client, 'on_s', { bin: 's', datatype: 'STRING' })
    await createIndex(client, 'on_l', { bin: 'l', type: 'LIST' })
  })

  after(() => connected.close())

  const everyId = Array.from({ length: COUNT }, (_, id) => id)

  /** All pages of a query; `between` runs after each. */
  async function pages(query: Query, between: (page: number) => Promise<void> = async () => {}): Promise<number[][]> {
    const all: number[][] = []
    do {
      all.push((await query.results()).map(keyOf))
      await between(all.length)
    } while (query.hasNextPage())
    return all
  }

  const paged = (maxRecords: number, set = 'demo') => client.query('test', set, { paginate: true, maxRecords })

  it('gives every record exactly once', async () => {
    const found = await pages(paged(37))
    expect(found.slice(0, -1).every((page) => page.length === 37)).to.equal(true)
    expect(sorted(found.flat())).to.deep.equal(everyId)
  })

  it('gives an empty last page where the pages come out even', async () => {
    const found = await pages(paged(100))
    expect(found.map((page) => page.length)).to.deep.equal([100, 100, 100, 100, 100, 0])
  })

  it('resumes within equal values of an integer index', async () => {
    const query = paged(9)
    query.where(filter.range('n', 2, 4))
    expect(sorted((await pages(query)).flat())).to.deep.equal(everyId.filter((id) => id % 7 >= 2 && id % 7 <= 4))
  })

  it('resumes on a string index', async () => {
    const query = paged(11)
    query.where(filter.equal('s', 's1'))
    expect(sorted((await pages(query)).flat())).to.deep.equal(everyId.filter((id) => id % 2 === 1))
  })

  it('gives a record of several matching elements on one page only', async () => {
    const query = paged(8)
    query.where(filter.range('l', 10, 30, indexType.LIST))
    const expected = everyId.filter((id) => id % 50 >= 9 && id % 50 <= 30)
    expect(sorted((await pages(query)).flat())).to.deep.equal(expected)
  })

  it('goes on from a saved state with another query object', async () => {
    const first = paged(200)
    const found = (await first.results()).map(keyOf)
    const second = paged(1000)
    second.nextPage(first.queryState!)
    found.push(...(await second.results()).map(keyOf))
    expect(sorted(found)).to.deep.equal(everyId)
  })

  it('neither loses nor repeats what stays, while other records come and go between pages', async () => {
    const set = 'moving'
    const stays = Array.from({ length: 300 }, (_, id) => id)
    await putAll(client, set, 300, (id) => ({ n: id % 5 }))
    await createIndex(client, 'on_moving', { set, bin: 'n' })
    let next = 1000
    const disturb = async () => {
      await putAll(client, set, 10, (id) => ({ n: id % 5 }), next)
      for (let id = next - 10; id >= 1000 && id < next - 5; id++) await client.remove(new Key('test', set, id))
      // A write that leaves the indexed value alone must not move the record.
      for (let id = next % 300; id < (next % 300) + 10; id++)
        await client.put(new Key('test', set, id), { touched: next })
      next += 10
    }
    const byIndex = paged(23, set)
    byIndex.where(filter.range('n', 0, 4))
    for (const query of [paged(23, set), byIndex]) {
      const found = (await pages(query, disturb)).flat()
      const kept = found.filter((id) => id < 1000)
      expect(sorted(kept)).to.deep.equal(stays)
      expect(new Set(found).size).to.equal(found.length)
    }
  })

  it('keeps to its partitions', async () => {
    const query = paged(10)
    query.partitions(0, 2048)
    const lower = (await pages(query)).flat()
    const rest = paged(10)
    rest.partitions(2048, 2048)
    const upper = (await pages(rest)).flat()
    expect(lower.length).to.be.within(1, COUNT - 1)
    expect(sorted([...lower, ...upper])).to.deep.equal(everyId)
  })
})
