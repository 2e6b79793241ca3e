import Aerospike, { type Client, type Transaction } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from '../official-client.js'

const { Key } = Aerospike
const BLOCKED = 120
const EXPIRED = 122
const TOO_MANY = 123
const FAILED = -17
const DURABLE = { durableDelete: true }

describe('embedded server: transactions', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const open: Transaction[] = []
  const newKey = () => new Key('test', 'txn', ++lastId)
  const begin = (timeout?: number) => {
    const transaction = new Aerospike.Transaction()
    if (timeout !== undefined) transaction.setTimeout(timeout)
    open.push(transaction)
    return transaction
  }
  const bins = async (key: InstanceType<typeof Key>, txn?: Transaction) =>
    (await client.get(key, txn ? { txn } : undefined)).bins

  before(async () => {
    connected = await connectOfficialClient({
      namespaces: ['test:sc', 'cache:ap'],
      limits: { maxTransactionWrites: 50 },
    })
    client = connected.client
  })
  afterEach(() => open.splice(0).forEach(releaseTransaction))
  after(() => connected.close())

  it('shows a write to its own transaction only, until it is committed', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin()
    await client.put(key, { a: 2 }, undefined, { txn })
    expect(await bins(key)).to.deep.equal({ a: 1 })
    expect(await bins(key, txn)).to.deep.equal({ a: 2 })
    expect(await client.commit(txn)).to.equal(0)
    expect(await bins(key)).to.deep.equal({ a: 2 })
  })

  it('undoes creates, changes and deletes on abort', async () => {
    const [created, changed, deleted] = [newKey(), newKey(), newKey()]
    await client.put(changed, { a: 1 })
    await client.put(deleted, { a: 1 })
    const txn = begin()
    await client.put(created, { a: 2 }, undefined, { txn })
    await client.put(changed, { a: 2 }, undefined, { txn })
    await client.remove(deleted, { txn, ...DURABLE })
    expect(await refusal(bins(deleted, txn))).to.equal(2)
    expect(await client.abort(txn)).to.equal(0)
    expect(await client.exists(created)).to.equal(false)
    expect((await client.get(changed)).gen).to.equal(1)
    expect(await bins(changed)).to.deep.equal({ a: 1 })
    expect(await bins(deleted)).to.deep.equal({ a: 1 })
  })

  it('blocks plain writers, other transactions and their reads while a record is held', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin()
    await client.put(key, { a: 2 }, undefined, { txn })
    expect(await refusal(client.put(key, { a: 3 }))).to.equal(BLOCKED)
    expect(await refusal(client.remove(key, DURABLE))).to.equal(BLOCKED)
    expect(await refusal(client.operate(key, [Aerospike.operations.touch(10)]))).to.equal(BLOCKED)
    const other = begin()
    expect(await refusal(client.put(key, { a: 3 }, undefined, { txn: other }))).to.equal(BLOCKED)
    expect(await refusal(client.get(key, { txn: other }))).to.equal(BLOCKED)
    await client.abort(other)
    await client.abort(txn)
    await client.put(key, { a: 3 })
  })

  it('blocks a plain writer of a record that does not exist yet', async () => {
    const key = newKey()
    const txn = begin()
    await client.put(key, { a: 1 }, undefined, { txn })
    expect(await refusal(client.put(key, { a: 2 }))).to.equal(BLOCKED)
    expect(await client.exists(key)).to.equal(false)
    await client.abort(txn)
  })

  it('fails the commit when something that was read has changed, and writes nothing', async () => {
    const [read, written] = [newKey(), newKey()]
    await client.put(read, { a: 1 })
    const txn = begin()
    await client.get(read, { txn })
    await client.put(written, { a: 1 }, undefined, { txn })
    await client.put(read, { a: 2 })
    expect(await refusal(client.commit(txn))).to.equal(FAILED)
    expect(await client.exists(written)).to.equal(false)
  })

  it('fails the commit when a record that was missing has appeared', async () => {
    const [missing, written] = [newKey(), newKey()]
    const txn = begin()
    expect(await refusal(client.get(missing, { txn }))).to.equal(2)
    await client.put(written, { a: 1 }, undefined, { txn })
    await client.put(missing, { a: 1 })
    expect(await refusal(client.commit(txn))).to.equal(FAILED)
    expect(await client.exists(written)).to.equal(false)
  })

  it('refuses to write a record that has changed since it was read', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin()
    await client.get(key, { txn })
    await client.put(key, { a: 2 })
    expect(await refusal(client.put(key, { b: 1 }, undefined, { txn }))).to.equal(121)
    await client.abort(txn)
    expect(await bins(key)).to.deep.equal({ a: 2 })
  })

  it('commits a transaction that only read', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin()
    await client.get(key, { txn })
    expect(await client.commit(txn)).to.equal(0)
  })

  it('undoes what a vanished client left, and tells it when it comes back', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin(2)
    await client.put(key, { a: 2 }, undefined, { txn })
    await connected.server.clock.advance(3)
    await client.put(key, { b: 3 })
    expect(await bins(key)).to.deep.equal({ a: 1, b: 3 })
    expect(await refusal(client.put(newKey(), { a: 1 }, undefined, { txn }))).to.equal(EXPIRED)
    expect(await client.abort(txn)).to.equal(0)
  })

  it('finishes what a client marked as committed before it vanished', async () => {
    const keys = [newKey(), newKey(), newKey()]
    const txn = begin(2)
    for (const key of keys) await client.put(key, { a: 1 }, undefined, { txn })
    await connected.server.faults.add({ kind: ['txn-roll-forward', 'txn-close'], times: Infinity, answer: 1 })
    await refusal(client.commit(txn))
    expect(await client.exists(keys[0])).to.equal(false)
    await connected.server.faults.clear()
    await connected.server.clock.advance(3)
    for (const key of keys) expect(await bins(key)).to.deep.equal({ a: 1 })
  })

  it('limits the writes of one transaction', async () => {
    const txn = begin()
    const keys = Array.from({ length: 51 }, newKey)
    for (const key of keys.slice(0, 50)) await client.put(key, { a: 1 }, undefined, { txn })
    expect(await refusal(client.put(keys[50], { a: 1 }, undefined, { txn }))).to.equal(TOO_MANY)
    await client.abort(txn)
  })

  it('keeps every record of a batch write, although the client announces only the last one', async () => {
    const keys = Array.from({ length: 10 }, newKey)
    const txn = begin()
    const rows = keys.map((key) => ({
      type: Aerospike.batchType.BATCH_WRITE,
      key,
      ops: [Aerospike.operations.write('a', 1)],
    }))
    await client.batchWrite(rows, { txn })
    expect(await client.commit(txn)).to.equal(0)
    for (const key of keys) expect(await bins(key)).to.deep.equal({ a: 1 })
  })

  it('wants durable deletes', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const txn = begin()
    expect(await refusal(client.remove(key, { txn, durableDelete: false }))).to.equal(22)
    await client.abort(txn)
  })

  it('refuses a second commit and an abort after the commit', async () => {
    const key = newKey()
    const txn = begin()
    await client.put(key, { a: 1 }, undefined, { txn })
    await client.commit(txn)
    const again = async () => client.commit(txn)
    const abort = async () => client.abort(txn)
    expect([-18, 124, undefined]).to.include(await refusal(again()))
    expect([-18, undefined]).to.include(await refusal(abort()))
    expect(await bins(key)).to.deep.equal({ a: 1 })
  })

  it('has no transactions on an available namespace', async () => {
    const txn = begin()
    expect(await refusal(client.put(new Key('cache', 'txn', 1), { a: 1 }, undefined, { txn }))).to.equal(25)
    await refusal(client.abort(txn))
  })
})
