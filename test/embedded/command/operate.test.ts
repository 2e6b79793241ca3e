import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { Key, lists, maps, operations: op } = Aerospike

describe('embedded server: operate', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const newKey = () => new Key('test', 'operate', ++lastId)
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
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
  })
  after(() => connected.close())

  it('adds, appends and prepends, and makes what is missing', async () => {
    const key = newKey()
    await client.operate(key, [op.incr('n', 4), op.append('s', 'b'), op.prepend('s', 'a')])
    await client.operate(key, [op.incr('n', -1), op.append('s', 'c')])
    expect(await content(key)).to.deep.equal([2, { n: 3, s: 'abc' }])
  })

  it('adds doubles to doubles only', async () => {
    const key = await stored({ d: 1.5, n: 1 })
    await client.operate(key, [op.incr('d', new Aerospike.Double(2) as unknown as number)])
    expect((await client.get(key)).bins.d).to.equal(3.5)
    expect(await refusal(client.operate(key, [op.incr('n', 1.5)]))).to.equal(12)
    expect(await refusal(client.operate(key, [op.append('n', 'x')]))).to.equal(12)
  })

  it('runs operations in the order given', async () => {
    const key = await stored({ n: 1 })
    const before = await client.operate(key, [op.read('n'), op.incr('n', 1)])
    expect(before.bins).to.deep.equal({ n: 1 })
    const after = await client.operate(key, [op.incr('n', 1), op.read('n')])
    expect(after.bins).to.deep.equal({ n: 3 })
    expect(after.gen).to.equal(3)
  })

  it('runs several operations on one bin, and answers with the last', async () => {
    const key = newKey()
    const { bins } = await client.operate(key, [
      lists.append('l', 1),
      lists.append('l', 2),
      lists.insert('l', 0, 0),
      lists.size('l'),
    ])
    expect(bins).to.deep.equal({ l: 3 })
    expect((await client.get(key)).bins).to.deep.equal({ l: [0, 1, 2] })
  })

  it('changes nothing when one operation fails', async () => {
    const key = await stored({ a: 1, s: 'x', l: [1] })
    const failing = [op.write('a', 2), lists.append('l', 2), maps.put('m', 'k', 1), op.incr('s', 1)]
    expect(await refusal(client.operate(key, failing))).to.equal(12)
    expect(await content(key)).to.deep.equal([1, { a: 1, s: 'x', l: [1] }])
    const absent = newKey()
    expect(await refusal(client.operate(absent, [op.write('a', 1), op.write('s', 'x'), op.incr('s', 1)]))).to.equal(12)
    expect(await client.exists(absent)).to.equal(false)
  })

  it('reads and deletes in one command', async () => {
    const key = await stored({ a: 1 })
    expect((await client.operate(key, [op.read('a'), op.delete()])).bins).to.deep.equal({ a: 1 })
    expect(await client.exists(key)).to.equal(false)
  })

  it('deletes everything and writes anew in one command', async () => {
    const key = await stored({ a: 1, b: 2 })
    await client.operate(key, [op.delete(), op.write('c', 3)])
    expect(await content(key)).to.deep.equal([2, { c: 3 }])
  })

  it('raises the generation of a record that is touched, and of one whose list did not change', async () => {
    const key = await stored({ l: [1] })
    await client.operate(key, [op.touch(0)])
    const unique = new Aerospike.ListPolicy({
      writeFlags: Aerospike.lists.writeFlags.ADD_UNIQUE | Aerospike.lists.writeFlags.NO_FAIL,
    })
    await client.operate(key, [lists.append('l', 1, unique)])
    expect(await content(key)).to.deep.equal([3, { l: [1] }])
  })

  it('does not answer list and map calls on a missing bin, and answers 2 on a missing record', async () => {
    const key = await stored({ a: 1 })
    expect((await client.operate(key, [lists.size('l')])).bins).to.deep.equal({})
    expect(await refusal(client.operate(newKey(), [lists.size('l')]))).to.equal(2)
  })
})
