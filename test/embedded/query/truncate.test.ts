import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'
import { createIndex, keysOf, putAll } from './query-client.js'

describe('Truncation', () => {
  let connected: Connected
  let client: Client

  beforeEach(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
    await putAll(client, 'demo', 3, (id) => ({ n: id }))
    await putAll(client, 'other', 2, (id) => ({ n: id }), 50)
    // Records written in the same millisecond survive.
    await connected.server.clock.advance(1)
  })

  afterEach(() => connected.close())

  const left = (set: string) => keysOf(client.query('test', set))
  const nanoseconds = (milliseconds: number) => milliseconds * 1_000_000

  it('removes the records of one set', async () => {
    await client.truncate('test', 'demo', 0)
    expect([await left('demo'), await left('other')]).to.deep.equal([[], [50, 51]])
  })

  it('removes the records of all sets', async () => {
    // The client's own call cannot leave out the set: it would send stale memory.
    await client.infoAny('truncate-namespace:namespace=test')
    expect([await left('demo'), await left('other')]).to.deep.equal([[], []])
  })

  it('keeps what was written after the time it is given', async () => {
    const old = Date.now()
    await connected.server.clock.advance(100)
    await putAll(client, 'demo', 2, (id) => ({ n: id }), 10)
    await client.put(new Aerospike.Key('test', 'demo', 1), { n: 1 })
    await client.truncate('test', 'demo', nanoseconds(old + 50_000))
    expect(await left('demo')).to.deep.equal([1, 10, 11])
  })

  it('leaves what was last written in the millisecond it is given, and removes what is older', async () => {
    const key = (id: number) => new Aerospike.Key('test', 'demo', id)
    const written = async (id: number) => {
      const { bins } = await client.operate(key(id), [
        Aerospike.exp.operations.read('at', Aerospike.exp.lastUpdate(), 0),
      ])
      return BigInt(bins.at as bigint)
    }
    await client.put(key(1), { n: 1 })
    const at = await written(1)
    for (const within of [0n, 999_999n]) {
      await client.infoAny(`truncate:namespace=test;set=demo;lut=${at + within}`)
      expect(await left('demo')).to.deep.equal([1])
    }
    await connected.server.clock.advance(1)
    await client.infoAny(`truncate:namespace=test;set=demo;lut=${at + 1_000_000n}`)
    expect(await left('demo')).to.deep.equal([])
  })

  it('refuses a time to come', async () => {
    const tomorrow = Date.now() + 24 * 3600 * 1000
    expect(await refusal(client.truncate('test', 'demo', nanoseconds(tomorrow)))).to.equal(4)
    expect(await left('demo')).to.have.length(3)
  })

  it('empties the indexes too', async () => {
    await createIndex(client, 'on_n', { bin: 'n' })
    await client.truncate('test', 'demo', 0)
    const query = client.query('test', 'demo')
    query.where(Aerospike.filter.range('n', 0, 9))
    expect(await keysOf(query)).to.deep.equal([])
    expect(await client.infoAny('sindex-stat:namespace=test;indexname=on_n')).to.include('entries=0')
  })

  it('lets the same keys be written again', async () => {
    await client.truncate('test', 'demo', 0)
    await putAll(client, 'demo', 1, (id) => ({ n: id }))
    expect(await left('demo')).to.deep.equal([0])
  })
})
