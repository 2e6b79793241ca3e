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

  it('refuses Lua functions', async () => {
    expect(await refusal(client.query('test', 'demo').background('module', 'fn'))).to.equal(16)
  })
})
