import Aerospike, { type AerospikeBins, type Client, type Query } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from '../official-client.js'
import { createIndex, keysOf, putAll } from './query-client.js'

const { filter, indexType, Key } = Aerospike
const Context = Aerospike.cdt.Context

type Predicate = Parameters<Query['where']>[0]

describe('A query with an index', () => {
  let connected: Connected
  let client: Client

  before(async () => {
    connected = await connectOfficialClient({ namespaces: [{ name: 'test', mode: 'sc', allowExpunge: true }] })
    client = connected.client
    await putAll(client, 'demo', 100, binsOf)
    await createIndex(client, 'on_n', { bin: 'n' })
    await createIndex(client, 'on_s', { bin: 's', datatype: 'STRING' })
    await createIndex(client, 'on_b', { bin: 'b', datatype: 'BLOB' })
    await createIndex(client, 'on_list', { bin: 'l', type: 'LIST' })
    await createIndex(client, 'on_keys', { bin: 'm', type: 'MAPKEYS', datatype: 'STRING' })
    await createIndex(client, 'on_values', { bin: 'm', type: 'MAPVALUES' })
    await createIndex(client, 'on_deep', { bin: 'deep', context: new Context().addMapKey('a').addListIndex(1) })
    await createIndex(client, 'on_deep_list', { bin: 'deep', type: 'LIST', context: new Context().addMapKey('a') })
  })

  after(() => connected.close())

  function binsOf(id: number): AerospikeBins {
    return {
      n: id % 10,
      s: `é${id % 5}`,
      b: Buffer.from([0, id % 4, 255]),
      l: [id, id + 1, 'text', id],
      m: { [`k${id % 3}`]: id, x: 1000 },
      deep: { a: [0, id] },
    }
  }

  const found = (predicate: Predicate, set = 'demo') => {
    const query = client.query('test', set)
    query.where(predicate)
    return keysOf(query)
  }
  const ids = (test: (id: number) => boolean) => Array.from({ length: 100 }, (_, id) => id).filter(test)

  it('finds an integer', async () => {
    expect(await found(filter.equal('n', 3))).to.deep.equal(ids((id) => id % 10 === 3))
  })

  it('finds a range of integers, both ends included', async () => {
    expect(await found(filter.range('n', 3, 5))).to.deep.equal(ids((id) => id % 10 >= 3 && id % 10 <= 5))
  })

  it('finds a range over the whole of the integers', async () => {
    expect(await found(filter.range('n', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))).to.deep.equal(
      ids(() => true),
    )
  })

  it('finds integers beyond what a number holds exactly', async () => {
    const huge = 2n ** 62n
    await client.put(new Key('test', 'huge', 1), { h: huge }, undefined, { key: Aerospike.policy.key.SEND })
    await client.put(new Key('test', 'huge', 2), { h: huge + 1n }, undefined, { key: Aerospike.policy.key.SEND })
    await createIndex(client, 'on_h', { set: 'huge', bin: 'h' })
    const query = client.query('test', 'huge')
    query.where(filter.range('h', 0, Number.MAX_SAFE_INTEGER))
    expect(await keysOf(query)).to.deep.equal([])
  })

  it('finds a string', async () => {
    expect(await found(filter.equal('s', 'é2'))).to.deep.equal(ids((id) => id % 5 === 2))
  })

  it('finds bytes', async () => {
    expect(await found(filter.equal('b', Buffer.from([0, 1, 255])))).to.deep.equal(ids((id) => id % 4 === 1))
  })

  it('finds an element of a list', async () => {
    expect(await found(filter.contains('l', 50, indexType.LIST))).to.deep.equal([49, 50])
  })

  it('gives a record once, however many of its elements are in the range', async () => {
    expect(await found(filter.range('l', 10, 20, indexType.LIST))).to.deep.equal(ids((id) => id >= 9 && id <= 20))
  })

  it('finds keys and values of a map', async () => {
    expect(await found(filter.contains('m', 'k1', indexType.MAPKEYS))).to.deep.equal(ids((id) => id % 3 === 1))
    expect(await found(filter.contains('m', 42, indexType.MAPVALUES))).to.deep.equal([42])
    expect(await found(filter.range('m', 90, 2000, indexType.MAPVALUES))).to.deep.equal(ids(() => true))
  })

  it('finds what a context leads to', async () => {
    const context = new Context().addMapKey('a').addListIndex(1)
    expect(await found(filter.range('deep', 77, 77, indexType.DEFAULT, context))).to.deep.equal([77])
    expect(await found(filter.contains('deep', 0, indexType.LIST, new Context().addMapKey('a')))).to.deep.equal(
      ids(() => true),
    )
  })

  it('can be told the name of the index', async () => {
    const query = client.query('test', 'demo')
    query.whereWithIndexName(filter.equal(null, 3), 'on_n')
    expect(await keysOf(query)).to.deep.equal(ids((id) => id % 10 === 3))
  })

  it('narrows what the index finds by expression and by bins', async () => {
    const query = client.query('test', 'demo')
    query.where(filter.equal('n', 3))
    query.select('s')
    const { exp } = Aerospike
    const records = await query.results({ filterExpression: exp.eq(exp.binStr('s'), exp.str('é3')) })
    expect(records.map((record) => record.bins)).to.deep.equal(Array(10).fill({ s: 'é3' }))
  })

  it('finds nothing in an index on another type', async () => {
    expect(await refusal(found(filter.equal('n', 'text')))).to.equal(201)
  })

  it('tells that there is no index, and goes on working', async () => {
    expect(await refusal(found(filter.equal('missing', 1)))).to.equal(201)
    expect(await found(filter.equal('n', 3))).to.have.length(10)
  })

  it('uses an index on all sets for a set that has none of its own', async () => {
    await putAll(client, 'one', 3, (id) => ({ shared: id }))
    await putAll(client, 'two', 3, (id) => ({ shared: id - 100 }), 100)
    await client.infoAny('sindex-create:namespace=test;indexname=on_shared;bin=shared;type=NUMERIC')
    expect(await found(filter.range('shared', 0, 9), 'one')).to.deep.equal([0, 1, 2])
    const all = client.query('test')
    all.where(filter.range('shared', 1, 2))
    expect(await keysOf(all)).to.deep.equal([1, 2, 101, 102])
  })

  it('follows every change of a record', async () => {
    const key = new Key('test', 'live', 1)
    const policy = { key: Aerospike.policy.key.SEND }
    await createIndex(client, 'on_live', { set: 'live', bin: 'v' })
    const at = async (value: number) => (await found(filter.equal('v', value), 'live')).length
    await client.put(key, { v: 1, w: 1 }, undefined, policy)
    expect([await at(1), await at(2)]).to.deep.equal([1, 0])
    await client.operate(key, [Aerospike.operations.incr('v', 1)])
    expect([await at(1), await at(2)]).to.deep.equal([0, 1])
    await client.put(key, { v: 'text' })
    expect([await at(1), await at(2)]).to.deep.equal([0, 0])
    await client.put(key, { v: 2 })
    await client.put(key, { v: null } as unknown as AerospikeBins)
    expect(await at(2)).to.equal(0)
    await client.put(key, { v: 2 }, { ttl: 50 })
    await connected.server.clock.advance(51)
    expect(await at(2)).to.equal(0)
    await client.put(key, { v: 2 }, undefined, policy)
    await client.remove(key)
    expect(await at(2)).to.equal(0)
    await client.put(key, { v: 2 }, undefined, policy)
    await connected.server.clock.advance(1)
    await client.truncate('test', 'live', 0)
    expect(await at(2)).to.equal(0)
  })

  it('follows a list whose elements come and go', async () => {
    const key = new Key('test', 'tags', 1)
    await createIndex(client, 'on_tags', { set: 'tags', bin: 't', type: 'LIST', datatype: 'STRING' })
    await client.put(key, { t: ['a', 'b'] }, undefined, { key: Aerospike.policy.key.SEND })
    await client.operate(key, [
      Aerospike.lists.append('t', 'c'),
      Aerospike.lists.removeByValue('t', 'a').andReturn(Aerospike.lists.returnType.NONE),
    ])
    const at = async (tag: string) => (await found(filter.contains('t', tag, indexType.LIST), 'tags')).length
    expect([await at('a'), await at('b'), await at('c')]).to.deep.equal([0, 1, 1])
  })

  it('finds what a transaction wrote only after its commit', async () => {
    const key = new Key('test', 'txn', 1)
    await client.put(key, { v: 1 }, undefined, { key: Aerospike.policy.key.SEND })
    await createIndex(client, 'on_txn', { set: 'txn', bin: 'v' })
    const txn = new Aerospike.Transaction()
    await client.put(key, { v: 2 }, undefined, { txn })
    const at = async (value: number) => (await found(filter.equal('v', value), 'txn')).length
    expect([await at(1), await at(2)]).to.deep.equal([1, 0])
    await client.commit(txn)
    releaseTransaction(txn)
    expect([await at(1), await at(2)]).to.deep.equal([0, 1])
  })

  it('does not find what an aborted transaction wrote', async () => {
    const key = new Key('test', 'txn', 2)
    const txn = new Aerospike.Transaction()
    await client.put(key, { v: 77 }, undefined, { txn })
    await client.abort(txn)
    releaseTransaction(txn)
    expect(await found(filter.equal('v', 77), 'txn')).to.deep.equal([])
  })
})
