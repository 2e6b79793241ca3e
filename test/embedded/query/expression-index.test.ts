import Aerospike, { type AerospikeExp, type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from '../official-client.js'
import { keyOf, keysOf, putAll, sorted } from './query-client.js'

const { exp, filter, indexDataType, indexType, Key } = Aerospike

describe('An index on an expression', () => {
  let connected: Connected
  let client: Client

  beforeEach(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:sc'] })
    client = connected.client
  })

  afterEach(() => connected.close())

  interface Options {
    readonly set?: string
    readonly type?: keyof typeof indexType
    readonly datatype?: 'NUMERIC' | 'STRING' | 'BLOB'
  }

  async function createIndex(name: string, expression: AerospikeExp, options: Options = {}): Promise<void> {
    const { set = 'demo', type = 'DEFAULT', datatype = 'NUMERIC' } = options
    const job = await client.createExpIndex({
      ns: 'test',
      set,
      exp: expression,
      index: name,
      type: indexType[type],
      datatype: indexDataType[datatype],
    })
    await job.wait(5)
  }

  type Predicate = Parameters<Aerospike.Query['whereWithExp']>[0]

  const ask = (predicate: Predicate, expression: AerospikeExp, options?: Aerospike.QueryOptions) => {
    const query = client.query('test', 'demo', options)
    query.whereWithExp(predicate, expression)
    return query
  }
  /** Predicates on expressions name no bin. */
  const between = (low: number, high: number, type?: number) => filter.range(null, low, high, type)
  const equals = (value: string | number) => filter.equal(null, value)

  const total = exp.add(exp.binInt('a'), exp.binInt('b'))
  /** Adults only: others have no value and are not in the index. */
  const adultAge = exp.cond(exp.ge(exp.binInt('age'), exp.int(18)), exp.binInt('age'), exp.unknown())

  it('finds records by the computed value, written before and after it was made', async () => {
    await putAll(client, 'demo', 10, (id) => ({ a: id, b: 100 }))
    await createIndex('on_total', total)
    await putAll(client, 'demo', 10, (id) => ({ a: id, b: 100 }), 10)
    await putAll(client, 'other', 10, (id) => ({ a: id, b: 100 }))
    expect(await keysOf(ask(between(108, 111), total))).to.deep.equal([8, 9, 10, 11])
    expect(await keysOf(ask(equals(119), total))).to.deep.equal([19])
  })

  it('leaves out records for which the expression is unknown', async () => {
    await createIndex('adults', adultAge)
    await putAll(client, 'demo', 40, (id) => (id === 39 ? { name: 'nobody' } : { age: id }))
    expect(await client.infoAny('sindex-stat:namespace=test;indexname=adults')).to.include('entries=21;')
    expect(await keysOf(ask(between(0, 20), adultAge))).to.deep.equal([18, 19, 20])
  })

  it('follows every bin it depends on', async () => {
    await createIndex('on_total', total)
    await putAll(client, 'demo', 1, () => ({ a: 1, b: 1 }))
    const key = new Key('test', 'demo', 0)
    const found = async () => Promise.all([2, 3, 4].map(async (sum) => (await keysOf(ask(equals(sum), total))).length))
    expect(await found()).to.deep.equal([1, 0, 0])
    await client.put(key, { b: 2 })
    expect(await found()).to.deep.equal([0, 1, 0])
    await client.put(key, { a: 2 })
    expect(await found()).to.deep.equal([0, 0, 1])
    await client.operate(key, [Aerospike.operations.write('a', 'text')])
    expect(await found()).to.deep.equal([0, 0, 0])
    await client.put(key, { a: 2 })
    await client.remove(key, { durableDelete: true })
    expect(await found()).to.deep.equal([0, 0, 0])
  })

  it('changes with a transaction only when that is committed', async () => {
    await createIndex('on_total', total)
    await putAll(client, 'demo', 1, () => ({ a: 1, b: 1 }))
    const txn = new Aerospike.Transaction()
    await client.put(new Key('test', 'demo', 0), { b: 2 }, undefined, { txn })
    expect(await keysOf(ask(equals(2), total))).to.deep.equal([0])
    await client.commit(txn)
    releaseTransaction(txn)
    expect(await keysOf(ask(equals(2), total))).to.deep.equal([])
    expect(await keysOf(ask(equals(3), total))).to.deep.equal([0])
  })

  it('forgets what it held of a record even where time has changed the expression', async () => {
    await createIndex('on_age', exp.sinceUpdate())
    await putAll(client, 'demo', 3, (id) => ({ n: id }))
    await connected.server.clock.advance(1000)
    await putAll(client, 'demo', 3, (id) => ({ n: id }))
    expect(await client.infoAny('sindex-stat:namespace=test;indexname=on_age')).to.include('entries=3;')
  })

  it('holds strings and bytes, the elements of lists, and the keys and values of maps', async () => {
    const name = exp.binStr('s')
    const bytes = exp.binBlob('y')
    const list = exp.binList('l')
    const map = exp.binMap('m')
    await createIndex('by_name', name, { datatype: 'STRING' })
    await createIndex('by_bytes', bytes, { datatype: 'BLOB' })
    await createIndex('by_item', list, { type: 'LIST' })
    await createIndex('by_key', map, { type: 'MAPKEYS', datatype: 'STRING' })
    await createIndex('by_value', map, { type: 'MAPVALUES' })
    await putAll(client, 'demo', 5, (id) => ({
      s: `name ${id}`,
      y: Buffer.from([id]),
      l: [id, 100 + id],
      m: { [`k${id}`]: id, all: 7 },
    }))
    const contains = (value: string | number, type: number) => filter.contains(null, value, type)
    expect(await keysOf(ask(equals('name 3'), name))).to.deep.equal([3])
    expect(await keysOf(ask(filter.equal(null, Buffer.from([2])), bytes))).to.deep.equal([2])
    expect(await keysOf(ask(between(3, 102, indexType.LIST), list))).to.deep.equal([0, 1, 2, 3, 4])
    expect(await keysOf(ask(contains('k4', indexType.MAPKEYS), map))).to.deep.equal([4])
    expect(await keysOf(ask(contains(7, indexType.MAPVALUES), map))).to.deep.equal([0, 1, 2, 3, 4])
  })

  it('is found by its name too, together with a filter and in pages', async () => {
    await createIndex('on_total', total)
    await putAll(client, 'demo', 30, (id) => ({ a: id, b: 0 }))
    const query = client.query('test', 'demo', { paginate: true, maxRecords: 4 })
    query.whereWithIndexName(between(10, 29), 'on_total')
    const policy = { filterExpression: exp.lt(exp.binInt('a'), exp.int(20)) }
    const found: number[] = []
    do found.push(...(await query.results(policy)).map(keyOf))
    while (query.hasNextPage())
    expect(sorted(found)).to.deep.equal([10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
  })

  it('lets a background query write to what it finds', async () => {
    await createIndex('on_total', total)
    await putAll(client, 'demo', 20, (id) => ({ a: id, b: 0 }))
    const job = await ask(between(15, 30), total).operate([Aerospike.operations.write('mark', 1)])
    await job.wait(5)
    const records = await client.query('test', 'demo').results()
    expect(sorted(records.filter(({ bins }) => bins.mark === 1).map(keyOf))).to.deep.equal([15, 16, 17, 18, 19])
  })

  it('is listed with its expression, and gone when it is dropped', async () => {
    await createIndex('on_total', total)
    const listed = await client.infoAny('sindex-list:namespace=test')
    const base64 = client.expressionToBase64(total)
    expect(listed).to.include(`:bin=null:type=numeric:indextype=default:context=null:exp=${base64}:state=RW`)
    await client.indexRemove('test', 'on_total')
    expect(await refusal(ask(equals(1), total).results())).to.equal(201)
  })

  it('is another one than that on another expression, and the same as that on the same', async () => {
    await createIndex('on_total', total)
    expect(await refusal(ask(equals(1), exp.sub(exp.binInt('a'), exp.binInt('b'))).results())).to.equal(201)
    expect(await refusal(createIndex('on_total', exp.binInt('a')))).to.equal(200)
    await createIndex('renamed', total)
    expect(await client.infoAny('sindex-list:namespace=test'))
      .to.include('indexname=renamed:')
      .and.not.include('on_total')
  })

  const base64 = (expression: AerospikeExp) => client.expressionToBase64(expression)
  const refused: [string, () => string][] = [
    ['another type than the index', () => `exp=${base64(exp.binStr('a'))};type=NUMERIC`],
    ['no list for an index on lists', () => `exp=${base64(exp.binInt('a'))};type=NUMERIC;indextype=LIST`],
    ['a bin beside it', () => `exp=${base64(exp.binInt('a'))};bin=a;type=NUMERIC`],
    ['a context beside it', () => `exp=${base64(exp.binInt('a'))};context=khAB;type=NUMERIC`],
    ['no base64', () => 'exp=%%%;type=NUMERIC'],
    ['no expression', () => 'exp=k1FR;type=NUMERIC'],
  ]
  for (const [what, parameters] of refused) {
    it(`is refused with ${what}`, async () => {
      const command = `sindex-create:namespace=test;indexname=bad;${parameters()}`
      expect(await refusal(client.infoAny(command))).to.equal(4)
    })
  }
})
