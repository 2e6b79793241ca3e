import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import type { EmbeddedServer } from 'skein/embedded'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { Key, operations: op, ttl } = Aerospike
const NEVER = { ttl: ttl.NEVER_EXPIRE }
const KEEP = { ttl: ttl.DONT_UPDATE }

describe('embedded server: expiry', () => {
  let connected: Connected
  let client: Client
  let server: EmbeddedServer
  let lastId = 0
  const newKey = (namespace = 'test') => new Key(namespace, 'expiry', ++lastId)
  const stored = async (seconds: number, namespace?: string) => {
    const key = newKey(namespace)
    await client.put(key, { a: 1 }, { ttl: seconds })
    return key
  }
  const objects = async (namespace: string) =>
    Number(/objects=(\d+)/.exec(await client.infoAny(`namespace/${namespace}`))![1])

  before(async () => {
    connected = await connectOfficialClient({
      namespaces: [
        { name: 'test', mode: 'ap', nsupPeriod: 3600 },
        { name: 'swept', mode: 'ap', nsupPeriod: 1 },
        { name: 'short', mode: 'ap', defaultTtl: 1000 },
        { name: 'forever', mode: 'ap', nsupPeriod: 0 },
      ],
    })
    ;({ client, server } = connected)
  })
  after(() => connected.close())

  it('hides a record from every command once its time is over, before anybody sweeps it', async () => {
    const key = await stored(1000)
    const before = await objects('test')
    await server.clock.advance(900)
    expect(await client.exists(key)).to.equal(true)
    await server.clock.advance(100)
    expect(await objects('test')).to.equal(before)
    expect(await client.exists(key)).to.equal(false)
    expect(await refusal(client.get(key))).to.equal(2)
    expect(await refusal(client.remove(key))).to.equal(2)
    expect(await refusal(client.put(key, { a: 2 }, undefined, { exists: Aerospike.policy.exists.UPDATE }))).to.equal(2)
    const [row] = await client.batchRead([
      { key, readAllBins: true },
      { key: newKey(), readAllBins: true },
    ])
    expect(row.status).to.equal(2)
    await client.put(key, { b: 1 }, undefined, { exists: Aerospike.policy.exists.CREATE })
    const { gen, bins } = await client.get(key)
    expect({ gen, bins }).to.deep.equal({ gen: 1, bins: { b: 1 } })
  })

  it('sweeps expired records away', async () => {
    await stored(5, 'swept')
    await stored(ttl.NEVER_EXPIRE, 'swept')
    await server.clock.advance(6)
    while ((await objects('swept')) > 1) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await objects('swept')).to.equal(1)
  })

  it('gives the namespace default to a write that does not say, also when the record had another', async () => {
    const key = newKey('short')
    await client.put(key, { a: 1 }, NEVER)
    await client.put(key, { a: 2 })
    await server.clock.advance(1000)
    expect(await client.exists(key)).to.equal(false)
    const lasting = await stored(50)
    await client.put(lasting, { a: 2 })
    expect((await client.get(lasting)).ttl).to.equal(ttl.NEVER_EXPIRE)
  })

  it('keeps the time to live when it is told to, and uses the default for a new record', async () => {
    const key = await stored(1000, 'short')
    await server.clock.advance(600)
    await client.put(key, { a: 2 }, KEEP)
    await server.clock.advance(400)
    expect(await client.exists(key)).to.equal(false)
    await client.put(key, { a: 3 }, KEEP)
    await server.clock.advance(900)
    expect(await client.exists(key)).to.equal(true)
    await server.clock.advance(100)
    expect(await client.exists(key)).to.equal(false)
  })

  it('lets a record live for ever', async () => {
    const key = newKey('short')
    await client.put(key, { a: 1 }, NEVER)
    await server.clock.advance(10_000)
    expect((await client.get(key)).ttl).to.equal(ttl.NEVER_EXPIRE)
  })

  it('prolongs the life of a record that is touched', async () => {
    const key = await stored(1000)
    await server.clock.advance(600)
    await client.operate(key, [op.touch(1000)])
    await server.clock.advance(600)
    expect((await client.get(key)).gen).to.equal(2)
  })

  it('prolongs the life of a record that is read near its end, without a new generation', async () => {
    const policy = { readTouchTtlPercent: 80 }
    const [early, late] = [await stored(1000), await stored(1000)]
    await server.clock.advance(100)
    await client.get(early, policy)
    await server.clock.advance(200)
    await client.get(late, policy)
    await server.clock.advance(750)
    expect(await client.exists(early)).to.equal(false)
    expect((await client.get(late)).gen).to.equal(1)
  })

  it('refuses a time to live in a namespace that does not expire records', async () => {
    expect(await refusal(stored(10, 'forever'))).to.equal(22)
    await stored(ttl.NEVER_EXPIRE, 'forever')
    await stored(0, 'forever')
  })
})
