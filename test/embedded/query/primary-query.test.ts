import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from '../official-client.js'
import { keysOf, putAll, valuesOf } from './query-client.js'

const { exp } = Aerospike

describe('A query without an index', () => {
  let connected: Connected
  let client: Client

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:sc'] })
    client = connected.client
    await putAll(client, 'demo', 200, (id) => ({ n: id, half: id >> 1, list: [id, id + 1] }))
    await putAll(client, 'other', 30, (id) => ({ n: 1000 + id }), 500)
    await client.put(new Aerospike.Key('test', 'demo', 'no n'), { other: 1 })
  })

  after(() => connected.close())

  it('gives every record of a set once, with its bins', async () => {
    const records = await client.query('test', 'demo').results()
    expect(records).to.have.length(201)
    expect(records.find((record) => record.bins.n === 7)?.bins).to.deep.equal({ n: 7, half: 3, list: [7, 8] })
  })

  it('gives the records of all sets when it names none', async () => {
    expect(await client.query('test').results()).to.have.length(231)
  })

  it('gives nothing for a set that nobody wrote', async () => {
    expect(await client.query('test', 'nobody').results()).to.deep.equal([])
  })

  it('tells key, set, generation and time to live', async () => {
    const [record] = await client
      .query('test', 'other')
      .results({ filterExpression: exp.eq(exp.binInt('n'), exp.int(1505)) })
    expect(record.key).to.include({ ns: 'test', set: 'other', key: 505 })
    expect(record).to.include({ gen: 1, ttl: -1 })
  })

  it('selects bins and leaves out records that have none of them', async () => {
    const query = client.query('test', 'demo')
    query.select('n', 'missing')
    const records = await query.results()
    expect(records).to.have.length(200)
    expect(records.every((record) => Object.keys(record.bins).join() === 'n')).to.equal(true)
  })

  it('can leave out all bins', async () => {
    const query = client.query('test', 'demo', { nobins: true })
    const records = await query.results()
    expect(records).to.have.length(201)
    expect(records.every((record) => Object.keys(record.bins).length === 0)).to.equal(true)
  })

  it('filters by expression', async () => {
    const policy = {
      filterExpression: exp.and(exp.ge(exp.binInt('n'), exp.int(10)), exp.lt(exp.binInt('n'), exp.int(13))),
    }
    const records = await client.query('test', 'demo').results(policy)
    expect(records.map((record) => record.bins.n).sort()).to.deep.equal([10, 11, 12])
  })

  it('refuses a filter that is not boolean', async () => {
    expect(await refusal(client.query('test', 'demo').results({ filterExpression: exp.binInt('n') }))).to.equal(4)
  })

  it('projects with read operations', async () => {
    const query = client.query('test', 'demo')
    query.ops = [
      Aerospike.lists.getByIndex('list', 1).andReturn(Aerospike.lists.returnType.VALUE),
      Aerospike.exp.operations.read(
        'twice',
        exp.mul(exp.binInt('n'), exp.int(2)),
        Aerospike.exp.expReadFlags.EVAL_NO_FAIL,
      ),
    ]
    const records = await query.results({ filterExpression: exp.eq(exp.binInt('n'), exp.int(21)) })
    expect(records.map((record) => record.bins)).to.deep.equal([{ list: 22, twice: 42 }])
  })

  it('keeps to the partitions it names, and all partitions together give everything', async () => {
    const found: number[] = []
    for (const begin of [0, 1024, 2048, 3072]) {
      const query = client.query('test', 'demo')
      query.select('n')
      query.partitions(begin, 1024)
      found.push(...(await valuesOf<number>(query, 'n')))
    }
    expect(found.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 200 }, (_, id) => id))
  })

  it('stops at maxRecords', async () => {
    expect(await client.query('test', 'demo', { maxRecords: 17 }).results()).to.have.length(17)
  })

  it('counts records that have none of the selected bins towards maxRecords, without a row for them', async () => {
    await putAll(client, 'sparse', 30, (id) => (id % 3 === 0 ? { a: id } : { b: id }))
    const query = (maxRecords: number) => client.query('test', 'sparse', { maxRecords, select: ['a'] }).results()
    expect(await query(30)).to.have.length(10)
    const sizes = await Promise.all([...Array(30).keys()].map(async (n) => (await query(n + 1)).length))
    expect(sizes).to.deep.equal([...sizes].sort((a, b) => a - b))
    expect(sizes.filter((size, n) => size < Math.min(n + 1, 10))).to.not.have.length(0)
  })

  it('does not see expired records', async () => {
    await client.put(new Aerospike.Key('test', 'brief', 1), { n: 1 }, { ttl: 100 })
    expect(await client.query('test', 'brief').results()).to.have.length(1)
    await connected.server.clock.advance(101)
    expect(await client.query('test', 'brief').results()).to.have.length(0)
  })

  it('sees what a transaction wrote only after its commit', async () => {
    await putAll(client, 'txn', 3, (id) => ({ n: id }))
    const txn = new Aerospike.Transaction()
    await client.put(new Aerospike.Key('test', 'txn', 0), { n: 100 }, undefined, { txn })
    await client.put(new Aerospike.Key('test', 'txn', 9), { n: 9 }, undefined, { txn })
    expect(await valuesOf(client.query('test', 'txn'), 'n')).to.deep.equal([0, 1, 2])
    await client.commit(txn)
    releaseTransaction(txn)
    expect(await valuesOf(client.query('test', 'txn'), 'n')).to.deep.equal([1, 2, 9, 100])
  })

  it('does not show the monitors of transactions', async () => {
    const txn = new Aerospike.Transaction()
    await client.put(new Aerospike.Key('test', 'txn2', 1), { n: 1 }, undefined, { txn })
    const sets = new Set((await client.query('test').results()).map((record) => record.key.set))
    expect([...sets].filter((set) => set.startsWith('<'))).to.deep.equal([])
    await client.abort(txn)
    releaseTransaction(txn)
  })

  it('does not see truncated records, and sees those written afterwards', async () => {
    await putAll(client, 'cut', 5, (id) => ({ n: id }))
    await connected.server.clock.advance(1)
    await client.truncate('test', 'cut', 0)
    await putAll(client, 'cut', 2, (id) => ({ n: id }), 10)
    expect(await keysOf(client.query('test', 'cut'))).to.deep.equal([10, 11])
  })

  it('refuses a relaxed query of a strongly consistent namespace', async () => {
    const policy = { expectedDuration: Aerospike.policy.queryDuration.LONG_RELAX_AP }
    expect(await refusal(client.query('test', 'demo').results(policy))).to.equal(4)
  })

  it('answers for a namespace that does not exist', async () => {
    expect(await refusal(client.query('nowhere', 'demo').results())).to.be.a('number')
  })
})
