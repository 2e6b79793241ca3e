import Aerospike, { type BatchResult, type BatchWriteRecord, type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { Key, batchType, exp, lists, operations: op, policy } = Aerospike
const { BATCH_READ, BATCH_REMOVE, BATCH_WRITE } = batchType

describe('embedded server: batch', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const newKey = (set = 'batch') => new Key('test', set, ++lastId)
  const stored = async (bins: Aerospike.AerospikeBins, key = newKey()) => {
    await client.put(key, bins)
    return key
  }
  const write = (key: Aerospike.Key, value: number, rowPolicy?: BatchWriteRecord['policy']): BatchWriteRecord => ({
    type: BATCH_WRITE,
    key,
    ops: [op.write('a', value)],
    policy: rowPolicy,
  })
  const statuses = (rows: readonly BatchResult[]) => rows.map((row) => row.status)
  const bins = async (key: Aerospike.Key) => (await client.get(key)).bins

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap', 'other:ap'], limits: { maxRecordSize: 2000 } })
    client = connected.client
  })
  after(() => connected.close())

  it('reads all bins, some bins, the results of operations and only metadata', async () => {
    const key = await stored({ a: 1, l: [1, 2, 3] })
    const rows = await client.batchRead([
      { key, readAllBins: true },
      { key, bins: ['a', 'z'] },
      { key, ops: [lists.size('l')] },
      { key },
    ])
    expect(rows.map((row) => row.record?.bins)).to.deep.equal([{ a: 1, l: [1, 2, 3] }, { a: 1 }, { l: 3 }, {}])
    expect(rows.map((row) => row.record?.gen)).to.deep.equal([1, 1, 1, 1])
  })

  it('runs reads, writes, operations and removes in one call, and answers each in its place', async () => {
    const [read, written, counted, removed, absent] = [
      await stored({ a: 1 }),
      newKey(),
      await stored({ n: 4 }),
      await stored({ a: 1 }),
      newKey(),
    ]
    const rows = await client.batchWrite([
      { type: BATCH_READ, key: read, readAllBins: true },
      write(written, 2),
      { type: BATCH_WRITE, key: counted, ops: [op.incr('n', 1), op.read('n')] },
      { type: BATCH_REMOVE, key: removed },
      { type: BATCH_READ, key: absent, readAllBins: true },
      { type: BATCH_REMOVE, key: absent },
    ])
    expect(statuses(rows)).to.deep.equal([0, 0, 0, 0, 2, 2])
    expect(rows[0].record?.bins).to.deep.equal({ a: 1 })
    expect(rows[2].record?.bins).to.deep.equal({ n: 5 })
    expect(rows[2].record?.gen).to.equal(2)
    expect(await bins(written)).to.deep.equal({ a: 2 })
    expect(await client.exists(removed)).to.equal(false)
  })

  it('spans sets and namespaces', async () => {
    const keys = [newKey('one'), newKey('two'), new Key('other', 'one', 1)]
    const rows = await client.batchWrite(keys.map((key, i) => write(key, i)))
    expect(statuses(rows)).to.deep.equal([0, 0, 0])
    expect(await Promise.all(keys.map(bins))).to.deep.equal([{ a: 0 }, { a: 1 }, { a: 2 }])
  })

  it('gives each row its own status, and does the rows after one that fails', async () => {
    const [present, text, last] = [await stored({ a: 1 }), await stored({ a: 'x' }), newKey()]
    const rows = await client.batchWrite([
      write(present, 2, { exists: policy.exists.CREATE }),
      write(newKey(), 2, { exists: policy.exists.UPDATE }),
      { type: BATCH_WRITE, key: text, ops: [op.incr('a', 1)] },
      { type: BATCH_WRITE, key: newKey(), ops: [op.write('a', 'x'.repeat(3000))] },
      { type: BATCH_REMOVE, key: present, policy: { durableDelete: true } },
      write(last, 2),
    ])
    expect(statuses(rows)).to.deep.equal([5, 2, 12, 13, 25, 0])
    expect(await bins(present)).to.deep.equal({ a: 1 })
    expect(await bins(last)).to.deep.equal({ a: 2 })
  })

  it('stops at the first failing row when the caller does not want every row answered', async () => {
    const [present, second, third] = [await stored({ a: 1 }), newKey(), newKey()]
    const parent = new Aerospike.BatchPolicy({ respondAllKeys: false })
    await client
      .batchWrite(
        [write(newKey(), 2, { exists: policy.exists.UPDATE }), write(second, 2)].concat(
          write(present, 2, { exists: policy.exists.CREATE }),
          write(third, 2),
        ),
        parent,
      )
      .catch(() => undefined)
    expect(await client.exists(second)).to.equal(true)
    expect(await client.exists(third)).to.equal(false)
  })

  it('applies the filter of a row, and that of the call to rows without one', async () => {
    const [one, two, three] = [await stored({ a: 1 }), await stored({ a: 2 }), await stored({ a: 2 })]
    const isOne = exp.eq(exp.binInt('a'), exp.int(1))
    const isTwo = exp.eq(exp.binInt('a'), exp.int(2))
    const rows = await client.batchWrite(
      [write(one, 10), write(two, 10), write(three, 10, { filterExpression: isTwo }), write(newKey(), 10)],
      { filterExpression: isOne },
    )
    expect(statuses(rows)).to.deep.equal([0, 27, 0, 0])
    expect(await bins(two)).to.deep.equal({ a: 2 })
    const read = await client.batchRead([{ key: two, readAllBins: true }, { key: newKey() }], {
      filterExpression: isOne,
    })
    expect(statuses(read)).to.deep.equal([27, 2])
  })

  it('gives each row its own time to live', async () => {
    const [short, long] = [newKey(), newKey()]
    await client.batchWrite([write(short, 1, { ttl: 100 }), write(long, 1, { ttl: 10_000 })])
    await connected.server.clock.advance(1000)
    expect(statuses(await client.batchRead([{ key: short }, { key: long }]))).to.deep.equal([2, 0])
  })

  it('answers every operation of a row, so that an expression read keeps what a write replaces', async () => {
    const key = await stored({ a: 1 })
    const ops = [
      Aerospike.exp.operations.read('before', exp.binInt('a'), Aerospike.exp.expReadFlags.DEFAULT),
      op.write('a', 2),
    ]
    const [row] = await client.batchWrite([{ type: BATCH_WRITE, key, ops }, write(newKey(), 1)])
    expect(row.record?.bins).to.deep.equal({ before: 1, a: null })
  })

  it('does a batch of one row as a command of its own', async () => {
    const key = newKey()
    const seen = await connected.server.commands.during(() => client.batchWrite([write(key, 7)]))
    expect(seen.log.map((entry) => entry.kind)).to.deep.equal(['write'])
    expect(await client.batchRead([{ key, readAllBins: true }])).to.have.nested.property('[0].record.bins.a', 7)
    const [missing] = await client.batchRead([{ key: newKey(), readAllBins: true }])
    expect(missing.status).to.equal(2)
  })

  it('does 5,000 rows with one key in one call', async () => {
    const key = newKey()
    const rows = Array.from({ length: 5000 }, () => ({ type: BATCH_WRITE, key, ops: [op.incr('n', 1)] }))
    await client.batchWrite(rows, { totalTimeout: 30_000 })
    expect(await bins(key)).to.deep.equal({ n: 5000 })
  })

  it('sends large answers whole', async () => {
    const content = { text: 'x'.repeat(1500) }
    const keys = await Promise.all(Array.from({ length: 80 }, () => stored(content)))
    const asked = Array.from({ length: 4000 }, (_, i) => ({ key: keys[i % keys.length], readAllBins: true }))
    const rows = await client.batchRead(asked, { totalTimeout: 30_000 })
    expect(rows.every((row) => row.record?.bins.text === content.text)).to.equal(true)
  })

  it('is refused as a whole when its filter cannot be one, even where every row has its own', async () => {
    const keys = [await stored({ a: 1 }), await stored({ a: 1 })]
    const own = new Aerospike.BatchWritePolicy({ filterExpression: exp.eq(exp.binInt('a'), exp.int(1)) })
    const rows = () => keys.map((key) => write(key, 2, own))
    const noBoolean = exp.add(exp.int(1), exp.int(2))
    const twoTypes = exp.eq(exp.binInt('a'), exp.binStr('a'))
    for (const filterExpression of [noBoolean, twoTypes]) {
      expect(await refusal(client.batchWrite(rows(), { filterExpression }))).to.equal(4)
    }
    expect(await Promise.all(keys.map(bins))).to.deep.equal([{ a: 1 }, { a: 1 }])
  })
})
