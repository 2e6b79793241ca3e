import { connect, type Socket } from 'node:net'
import Aerospike, { type AerospikeRecord, type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../official-client.js'
import { createIndex, putAll } from './query-client.js'

describe('A query over 100,000 records', () => {
  const COUNT = 100_000
  let connected: Connected
  let client: Client

  before(async function () {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
    await putAll(client, 'big', COUNT, (id) => ({ n: id, text: 'some text that makes the record a little larger' }))
  })

  after(() => connected.close())

  /** Reads records, 32 at a time, while a query streams; gives the number that were answered before the query ended. */
  async function readsDuring(query: Promise<unknown>): Promise<number> {
    let streaming = true
    const ended = query.finally(() => (streaming = false))
    let reads = 0
    async function readUntilEnd(first: number): Promise<void> {
      for (let id = first; streaming; id = (id + 7919) % COUNT) {
        await client.get(new Aerospike.Key('test', 'big', id))
        if (streaming) reads++
      }
    }
    await Promise.all([ended, ...Array.from({ length: 32 }, (_, reader) => readUntilEnd(reader))])
    return reads
  }

  function countRows(query: ReturnType<Client['query']>): Promise<number> {
    return new Promise((resolve, reject) => {
      let rows = 0
      const stream = query.foreach({ totalTimeout: 0, socketTimeout: 0 })
      stream.on('data', () => rows++)
      stream.on('error', reject)
      stream.on('end', () => resolve(rows))
    })
  }

  it('gives them all, and other commands are answered meanwhile', async () => {
    const query = countRows(client.query('test', 'big'))
    const reads = await readsDuring(query)
    expect(await query).to.equal(COUNT)
    expect(reads).to.be.above(64)
  })

  it('can be filtered down to nothing, and other commands are answered meanwhile', async () => {
    const { exp } = Aerospike
    const nothing = { filterExpression: exp.cmpRegex(1, '(a|b)+zzz$', exp.binStr('text')), totalTimeout: 0 }
    const query = client.query('test', 'big').results(nothing)
    const reads = await readsDuring(query)
    expect(await query).to.deep.equal([])
    expect(reads).to.be.above(64)
  })

  it('builds an index on them while other commands are answered, and finds by it', async () => {
    const reads = await readsDuring(createIndex(client, 'on_big', { set: 'big', bin: 'n' }))
    expect(reads).to.be.above(64)
    const query = client.query('test', 'big')
    query.where(Aerospike.filter.range('n', 500, 599))
    expect(await countRows(query)).to.equal(100)
    const { log } = await connected.server.commands.summary()
    expect(log.at(-1)).to.include({ kind: 'query', code: 0 })
    // A hundred rows of some 160 bytes: the index was used, and nothing else was sent.
    expect(log.at(-1)!.bytesOut).to.be.below(30_000)
  })

  it('ends when the client has seen enough', async () => {
    await connected.server.commands.reset()
    const rows = await new Promise<number>((resolve, reject) => {
      let seen = 0
      const stream = client.query('test', 'big').foreach()
      stream.on('data', (_record: AerospikeRecord) => {
        if (++seen === 5) stream.abort()
      })
      stream.on('error', reject)
      stream.on('end', () => resolve(seen))
    })
    expect(rows).to.equal(5)
    // The server notices it a little later; until then it is a query under way.
    do expect((await client.get(new Aerospike.Key('test', 'big', 1))).bins.n).to.equal(1)
    while ((await connected.server.commands.summary()).byKind.query === undefined)
  })

  it('waits for a client that does not read, and lives on when that one goes away', async () => {
    await connected.server.commands.reset()
    const socket = await stalledQuery(connected.server.port)
    const done = async () => (await connected.server.commands.summary()).byKind.query
    for (let i = 0; i < 20; i++) await client.get(new Aerospike.Key('test', 'big', i))
    expect(await done(), 'the query cannot end while nobody reads it').to.equal(undefined)
    socket.destroy()
    while ((await done()) === undefined) await client.get(new Aerospike.Key('test', 'big', 1))
    const { bytesOut } = (await done())!
    expect(bytesOut).to.be.below(COUNT * 100)
  })
})

/** Asks for every record over a bare socket and reads nothing of the answer. */
async function stalledQuery(port: number): Promise<Socket> {
  const pids = Buffer.alloc(8192)
  for (let pid = 0; pid < 4096; pid++) pids.writeUInt16LE(pid, pid * 2)
  const fields = [
    [0, Buffer.from('test')],
    [1, Buffer.from('big')],
    [11, pids],
  ] as const
  const header = Buffer.alloc(22)
  header[0] = 22
  header[1] = 1
  header[3] = 4
  header.writeUInt16BE(fields.length, 18)
  const body = Buffer.concat([
    header,
    ...fields.map(([id, data]) => {
      const field = Buffer.alloc(5)
      field.writeUInt32BE(data.length + 1)
      field[4] = id
      return Buffer.concat([field, data])
    }),
  ])
  const frame = Buffer.alloc(8)
  frame[0] = 2
  frame[1] = 3
  frame.writeUIntBE(body.length, 2, 6)
  const socket = connect({ port, host: '127.0.0.1' })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  socket.pause()
  await new Promise<void>((resolve) => socket.write(Buffer.concat([frame, body]), () => resolve()))
  return socket
}
