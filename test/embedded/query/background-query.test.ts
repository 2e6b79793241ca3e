import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'
import { createIndex, putAll, sorted } from './query-client.js'

const { exp, filter, operations } = Aerospike

describe('A background query', () => {
  let connected: Connected
  let client: Client

  beforeEach(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
    await putAll(client, 'demo', 50, (id) => ({ n: id }))
  })

  afterEach(() => connected.close())

  async function marked(): Promise<number[]> {
    const records = await client.query('test', 'demo').results()
    return sorted(records.filter((record) => record.bins.mark === 1).map((record) => record.bins.n as number))
  }

  it('writes to every record of a set, and to no other', async () => {
    await putAll(client, 'other', 3, (id) => ({ n: id }))
    const job = await client.query('test', 'demo').operate([operations.write('mark', 1)])
    await job.wait(5)
    expect(await marked()).to.have.length(50)
    const others = await client.query('test', 'other').results()
    expect(others.some((record) => 'mark' in record.bins)).to.equal(false)
  })

  it('writes to what an index and an expression find', async () => {
    await createIndex(client, 'on_n', { bin: 'n' })
    const query = client.query('test', 'demo')
    query.where(filter.range('n', 10, 19))
    const policy = { filterExpression: exp.lt(exp.binInt('n'), exp.int(15)) }
    const job = await query.operate([operations.write('mark', 1)], policy)
    await job.wait(5)
    expect(await marked()).to.deep.equal([10, 11, 12, 13, 14])
  })

  it('tells by the id of its job how many records it wrote, and how many its filter held back', async () => {
    const policy = { filterExpression: exp.lt(exp.binInt('n'), exp.int(20)) }
    const job = await client.query('test', 'demo').operate([operations.incr('n', 1000)], policy)
    await job.wait(5)
    expect(await job.info()).to.include({ status: Aerospike.jobStatus.COMPLETED, progressPct: 100 })
    const shown = await client.infoAny(`query-show:id=${(job as unknown as { jobID: number }).jobID}`)
    expect(shown).to.include('status=done(ok):job-progress=100.00:')
    expect(shown).to.include('recs-filtered-bins=30:recs-succeeded=20:recs-failed=0:')
  })

  it('counts records that refuse the write as failed, and goes on', async () => {
    await client.put(new Aerospike.Key('test', 'demo', 3), { n: 'text' })
    const job = await client.query('test', 'demo').operate([operations.incr('n', 1000)])
    await job.wait(5)
    const shown = await client.infoAny(`query-show:id=${(job as unknown as { jobID: number }).jobID}`)
    expect(shown).to.include('recs-succeeded=49:recs-failed=1:')
    const records = await client.query('test', 'demo').results()
    expect(records.filter((record) => Number(record.bins.n) >= 1000)).to.have.length(49)
  })

  it('runs expressions and list operations, and deletes records', async () => {
    const double = exp.operations.write('twice', exp.mul(exp.binInt('n'), exp.int(2)), 0)
    const job = await client.query('test', 'demo').operate([double, Aerospike.lists.append('l', 'x')])
    await job.wait(5)
    const { bins } = await client.get(new Aerospike.Key('test', 'demo', 7))
    expect(bins).to.deep.equal({ n: 7, twice: 14, l: ['x'] })
    const policy = { filterExpression: exp.ge(exp.binInt('n'), exp.int(10)) }
    await (await client.query('test', 'demo').operate([operations.delete()], policy)).wait(5)
    expect(await client.query('test', 'demo').results()).to.have.length(10)
  })

  it('writes once to a record that the write moves forward in the index', async () => {
    await createIndex(client, 'on_n', { bin: 'n' })
    const query = client.query('test', 'demo')
    query.where(filter.range('n', 0, 1_000_000))
    await (await query.operate([operations.incr('n', 7), operations.incr('times', 1)])).wait(5)
    const records = await client.query('test', 'demo').results()
    expect(records.map((record) => record.bins.times)).to.deep.equal(Array(50).fill(1))
  })

  it('refuses a filter that is not boolean', async () => {
    const policy = { filterExpression: exp.int(1) }
    expect(await refusal(client.query('test', 'demo').operate([operations.write('mark', 1)], policy))).to.equal(4)
  })

  it('refuses Lua functions', async () => {
    expect(await refusal(client.query('test', 'demo').background('module', 'fn'))).to.equal(16)
  })
})
