import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import type { EmbeddedServer } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

const { Key, batchType, operations: op } = Aerospike

describe('embedded server: the commands it has seen', () => {
  let connected: Connected
  let client: Client
  let server: EmbeddedServer
  const key = new Key('test', 'demo', 1)

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:sc'], limits: { commandLog: 20 } })
    ;({ client, server } = connected)
  })
  after(() => connected.close())

  it('counts commands and the bytes of their frames', async () => {
    const put = await server.commands.during(() => client.put(key, { i: 1 }))
    expect(put.byKind.write).to.deep.equal({ commands: 1, rows: 1, bytesIn: 90, bytesOut: 30 })
    const { commands, rows, bytesIn, bytesOut } = put
    expect({ commands, rows, bytesIn, bytesOut }).to.deep.equal(put.byKind.write)
  })

  it('logs what each command was, and its result', async () => {
    const seen = await server.commands.during(async () => {
      await client.put(key, { i: 1 })
      await client.get(key)
      await client.operate(key, [op.incr('i', 1), op.read('i')])
      await refusal(client.get(new Key('test', 'other', 1)))
      await client.remove(key, { durableDelete: true })
    })
    const log = seen.log.map(({ kind, namespace, set, rows, code }) => [kind, namespace, set, rows, code])
    expect(log).to.deep.equal([
      ['write', 'test', 'demo', 1, 0],
      ['read', 'test', 'demo', 1, 0],
      ['write', 'test', 'demo', 1, 0],
      ['read', 'test', 'other', 1, 2],
      ['delete', 'test', 'demo', 1, 0],
    ])
  })

  it('counts a batch as one command with its rows', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({
      type: batchType.BATCH_WRITE,
      key: new Key('test', 'demo', i),
      ops: [op.write('i', i)],
    }))
    const seen = await server.commands.during(() => client.batchWrite(rows))
    expect([seen.commands, seen.rows, seen.byKind.batch?.commands]).to.deep.equal([1, 50, 1])
  })

  it('shows how a transaction goes over the wire', async () => {
    const other = new Key('test', 'demo', 'other')
    await client.put(other, { a: 1 })
    const txn = new Aerospike.Transaction()
    const seen = await server.commands.during(async () => {
      await client.get(other, { txn })
      await client.put(key, { i: 2 }, undefined, { txn })
      await client.commit(txn)
    })
    releaseTransaction(txn)
    expect(seen.log.map((entry) => entry.kind)).to.deep.equal([
      'read',
      'txn-monitor',
      'write',
      'txn-verify',
      'txn-commit',
      'txn-roll-forward',
      'txn-close',
    ])
  })

  it('counts info requests apart: a client sends them by itself', async () => {
    const seen = await server.commands.during(() => client.infoAny('namespaces'))
    expect([seen.commands, seen.log]).to.deep.equal([0, []])
    expect(seen.byKind.info?.commands).to.be.greaterThan(0)
  })

  it('remembers only the newest commands, and counts all', async () => {
    const seen = await server.commands.during(async () => {
      for (let i = 0; i < 45; i++) await client.put(new Key('test', `set${i}`, 1), { i })
    })
    expect(seen.commands).to.equal(45)
    expect(seen.log.map((entry) => entry.set)).to.deep.equal(Array.from({ length: 20 }, (_, i) => `set${i + 25}`))
  })

  it('forgets when it is reset', async () => {
    await client.get(key)
    expect((await server.commands.summary()).commands).to.be.greaterThan(0)
    await server.commands.reset()
    expect((await server.commands.summary()).commands).to.equal(0)
  })
})
