import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { Key, exp, policy } = Aerospike
const { exists, gen } = policy

describe('embedded server: records', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const newKey = () => new Key('test', 'records', ++lastId)
  const stored = async (bins: Aerospike.AerospikeBins) => {
    const key = newKey()
    await client.put(key, bins)
    return key
  }
  const content = async (key: Aerospike.Key) => {
    const record = await client.get(key)
    return [record.gen, record.bins]
  }

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'], limits: { maxRecordSize: 2000 } })
    client = connected.client
  })
  after(() => connected.close())

  it('gives back every kind of value', async () => {
    const bins = {
      int: -17,
      big: 2n ** 62n,
      double: new Aerospike.Double(2),
      text: 'naïve ☕',
      bytes: Buffer.from([0, 1, 255]),
      yes: true,
      list: [1, 'two', [3, null], { four: 4.5 }],
      map: { b: 1, a: { c: [Buffer.from('x')] } },
    }
    const key = await stored(bins)
    expect((await client.get(key)).bins).to.deep.equal({ ...bins, double: 2 })
  })

  it('counts generations, and starts again at 1 after a delete', async () => {
    const key = await stored({ a: 1 })
    await client.put(key, { b: 2 })
    expect(await content(key)).to.deep.equal([2, { a: 1, b: 2 }])
    await client.remove(key)
    await client.put(key, { c: 3 })
    expect(await content(key)).to.deep.equal([1, { c: 3 }])
  })

  it('wraps the generation from 65,535 to 1', async () => {
    const key = await stored({ a: 0 })
    const add = [Aerospike.operations.incr('a', 1)]
    const rows = Array.from({ length: 5000 }, () => ({ type: Aerospike.batchType.BATCH_WRITE, key, ops: add }))
    for (let sent = 1; sent < 65_535;) {
      const size = Math.min(rows.length, 65_535 - sent)
      await client.batchWrite(rows.slice(0, size), { totalTimeout: 30_000 })
      sent += size
    }
    expect(await content(key)).to.deep.equal([65_535, { a: 65_534 }])
    await client.put(key, { a: 0 })
    expect((await client.get(key)).gen).to.equal(1)
  })

  it('writes only the bins it is given, and null removes one', async () => {
    const key = await stored({ a: 1, b: 2 })
    await client.put(key, { b: null, c: 3 })
    expect(await content(key)).to.deep.equal([2, { a: 1, c: 3 }])
  })

  it('deletes a record whose last bin is removed', async () => {
    const key = await stored({ a: 1 })
    await client.put(key, { a: null })
    expect(await client.exists(key)).to.equal(false)
  })

  it('answers 2 for whatever needs a record that is not there', async () => {
    const key = newKey()
    expect(await refusal(client.get(key))).to.equal(2)
    expect(await refusal(client.select(key, ['a']))).to.equal(2)
    expect(await refusal(client.remove(key))).to.equal(2)
    expect(await refusal(client.operate(key, [Aerospike.operations.touch(0)]))).to.equal(2)
    expect(await client.exists(key)).to.equal(false)
  })

  it('selects bins that exist, and nothing else', async () => {
    const key = await stored({ a: 1, b: 2 })
    expect((await client.select(key, ['b', 'z'])).bins).to.deep.equal({ b: 2 })
    expect((await client.select(key, ['z'])).bins).to.deep.equal({})
  })

  describe('exists policies', () => {
    it('CREATE makes a record only where there is none', async () => {
      const key = newKey()
      await client.put(key, { a: 1 }, undefined, { exists: exists.CREATE })
      expect(await refusal(client.put(key, { a: 2 }, undefined, { exists: exists.CREATE }))).to.equal(5)
      expect(await content(key)).to.deep.equal([1, { a: 1 }])
    })

    it('UPDATE changes a record only where there is one', async () => {
      const key = newKey()
      expect(await refusal(client.put(key, { a: 1 }, undefined, { exists: exists.UPDATE }))).to.equal(2)
      expect(await client.exists(key)).to.equal(false)
      await client.put(key, { a: 1, b: 2 })
      await client.put(key, { a: 2 }, undefined, { exists: exists.UPDATE })
      expect(await content(key)).to.deep.equal([2, { a: 2, b: 2 }])
    })

    it('REPLACE drops the other bins, and needs a record', async () => {
      const key = newKey()
      expect(await refusal(client.put(key, { a: 1 }, undefined, { exists: exists.REPLACE }))).to.equal(2)
      await client.put(key, { a: 1, b: 2 })
      await client.put(key, { c: 3 }, undefined, { exists: exists.REPLACE })
      expect(await content(key)).to.deep.equal([2, { c: 3 }])
    })

    it('CREATE_OR_REPLACE drops the other bins, or makes the record', async () => {
      const key = newKey()
      await client.put(key, { a: 1, b: 2 }, undefined, { exists: exists.CREATE_OR_REPLACE })
      await client.put(key, { c: 3 }, undefined, { exists: exists.CREATE_OR_REPLACE })
      expect(await content(key)).to.deep.equal([2, { c: 3 }])
    })
  })

  describe('generation policies', () => {
    const EQ = { gen: gen.EQ }
    const GT = { gen: gen.GT }

    it('EQ writes and deletes only at the generation it says', async () => {
      const key = await stored({ a: 1 })
      expect(await refusal(client.put(key, { a: 2 }, { gen: 2 }, EQ))).to.equal(3)
      await client.put(key, { a: 2 }, { gen: 1 }, EQ)
      expect(await refusal(client.remove(key, { ...EQ, generation: 1 }))).to.equal(3)
      expect(await content(key)).to.deep.equal([2, { a: 2 }])
      await client.remove(key, { ...EQ, generation: 2 })
    })

    it('GT writes only when it says a later generation', async () => {
      const key = await stored({ a: 1 })
      expect(await refusal(client.put(key, { a: 2 }, { gen: 1 }, GT))).to.equal(3)
      await client.put(key, { a: 2 }, { gen: 2 }, GT)
      expect(await content(key)).to.deep.equal([2, { a: 2 }])
    })

    it('takes a missing record for generation 0', async () => {
      expect(await refusal(client.put(newKey(), { a: 1 }, { gen: 9 }, EQ))).to.equal(3)
      await client.put(newKey(), { a: 1 }, { gen: 0 }, EQ)
    })
  })

  it('filters reads, writes and deletes of records, but not of missing ones', async () => {
    const key = await stored({ a: 1 })
    const other = { filterExpression: exp.eq(exp.binInt('a'), exp.int(2)) }
    expect(await refusal(client.get(key, other))).to.equal(27)
    expect(await refusal(client.put(key, { a: 3 }, undefined, other))).to.equal(27)
    expect(await refusal(client.remove(key, other))).to.equal(27)
    expect(await content(key)).to.deep.equal([1, { a: 1 }])
    expect(await refusal(client.get(newKey(), other))).to.equal(2)
    const created = newKey()
    await client.put(created, { a: 1 }, undefined, other)
    expect(await client.exists(created)).to.equal(true)
  })

  it('refuses a record above the size limit with 13, and keeps what was there', async () => {
    const key = await stored({ a: 'x'.repeat(1000) })
    expect(await refusal(client.put(key, { b: 'y'.repeat(1000) }))).to.equal(13)
    expect(await refusal(client.operate(key, [Aerospike.operations.append('a', 'y'.repeat(1000))]))).to.equal(13)
    expect((await client.get(key)).gen).to.equal(1)
  })

  it('takes bin names of 15 bytes and set names of 63', async () => {
    const key = new Key('test', 's'.repeat(63), 1)
    await client.put(key, { ['b'.repeat(15)]: 1 })
    expect((await client.get(key)).bins).to.deep.equal({ ['b'.repeat(15)]: 1 })
  })

  it('truncates a set, and counts what is left', async () => {
    const keys = [new Key('test', 'short', 1), new Key('test', 'short', 2), new Key('test', 'long', 1)]
    for (const key of keys) await client.put(key, { a: 1 })
    expect(await client.infoAny('sets/test/short')).to.include('objects=2:')
    await connected.server.clock.advance(1)
    await client.truncate('test', 'short', 0)
    expect(await Promise.all(keys.map((key) => client.exists(key)))).to.deep.equal([false, false, true])
    expect(await client.infoAny('sets/test/short')).to.include('objects=0:')
  })

  it('truncates what was last updated before a time, and refuses a time to come', async () => {
    const [old, fresh] = [new Key('test', 'aging', 1), new Key('test', 'aging', 2)]
    await client.put(old, { a: 1 })
    const between = (Date.now() + 5000) * 1e6
    await connected.server.clock.advance(10)
    await client.put(fresh, { a: 1 })
    await client.truncate('test', 'aging', between)
    expect([await client.exists(old), await client.exists(fresh)]).to.deep.equal([false, true])
    expect(await refusal(client.truncate('test', 'aging', (Date.now() + 3600_000) * 1e6))).to.equal(4)
  })
})
