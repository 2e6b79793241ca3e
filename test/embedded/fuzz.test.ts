import { connect, type Socket } from 'node:net'
import { randomBytes } from 'node:crypto'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import fc from 'fast-check'
import { connectOfficialClient, type Connected } from './official-client.js'
import { field, frame, message, op } from './raw-message.js'

const { Key } = Aerospike
const GUARDED = new Key('test', 'guarded', 'precious')
const CONTENT = { a: 1, l: [1, 2, 3], m: { k: 'v' } }

const RECORD = [field(0, Buffer.from('test')), field(1, Buffer.from('fuzz')), field(4, randomBytes(20))]
const batchRow = Buffer.concat([
  Buffer.from([0, 0, 0, 1, 0x0d, 0, 0, 0, 0]),
  randomBytes(20),
  Buffer.from([0x0a, 0x03, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]),
  RECORD[0],
  RECORD[1],
])

/** Well-formed requests of every kind; each test damages them. */
const SEEDS = [
  frame(1, Buffer.from('node\nbuild\nsets/test\nsindex-list\n')),
  frame(3, message([3, 0, 0, 0], RECORD, [])),
  frame(
    3,
    message([0, 1, 0, 0], RECORD, [op(2, 1, 'i', Buffer.alloc(8)), op(2, 20, 'l', Buffer.from('930102a20361', 'hex'))]),
  ),
  frame(
    3,
    message([0, 1, 0, 0], RECORD, [
      op(4, 4, 'l', Buffer.from('920101', 'hex')),
      op(4, 4, 'm', Buffer.from('9443a2036b0100', 'hex')),
    ]),
  ),
  frame(3, message([1, 0x80, 0, 0], RECORD, [op(7, 4, 'r', Buffer.from('929314935102a1630100', 'hex'))])),
  frame(3, message([3, 0, 0, 0], [...RECORD, field(43, Buffer.from('9301935103a173a4037a7a7a', 'hex'))], [])),
  frame(3, message([8, 0, 0, 0], [field(41, batchRow)], [])),
  frame(
    3,
    message([1, 0, 4, 0], [RECORD[0], RECORD[1], field(7, Buffer.alloc(8)), field(11, Buffer.from([0, 0, 1, 0]))], []),
  ),
  frame(3, message([0, 0x11, 0, 2], [...RECORD, field(5, Buffer.alloc(8, 1))], [])),
  frame(2, Buffer.alloc(24)),
]

describe('embedded server: hostile input', function () {
  let connected: Connected

  before(async () => {
    connected = await connectOfficialClient({ limits: { maxRequestSize: 1 << 20 } })
    await connected.client.put(GUARDED, CONTENT)
  })
  after(() => connected.close())

  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(connected.server.port, connected.server.host, () => resolve(socket))
      socket.once('error', reject)
    })

  /** Sends bytes and waits for an answer or for the connection to close; never for ever, because we end our side. */
  async function send(bytes: Buffer): Promise<Buffer> {
    const socket = await open()
    socket.removeAllListeners('error')
    const received: Buffer[] = []
    await new Promise<void>((resolve) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => received.push(chunk))
      socket.on('close', () => resolve())
      socket.end(bytes)
    })
    return Buffer.concat(received)
  }

  async function expectUnharmed(): Promise<void> {
    expect((await connected.client.get(GUARDED)).bins).to.deep.equal(CONTENT)
  }

  it('survives random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        await send(Buffer.from(bytes))
      }),
      { numRuns: 150 },
    )
    await expectUnharmed()
  })

  it('survives damaged requests of every kind', async () => {
    const damage = fc.record({
      seed: fc.nat(SEEDS.length - 1),
      flips: fc.array(fc.record({ at: fc.nat(500), to: fc.nat(255) }), { minLength: 1, maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(damage, async ({ seed, flips }) => {
        const bytes = Buffer.from(SEEDS[seed])
        for (const { at, to } of flips) bytes[8 + (at % (bytes.length - 8))] = to
        await send(bytes)
      }),
      { numRuns: 800 },
    )
    await expectUnharmed()
  })

  it('survives random payloads inside well-formed commands', async () => {
    const kinds = [3, 4, 7, 8, 12, 13, 15, 16]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...kinds), fc.uint8Array({ maxLength: 60 }), async (code, payload) => {
        const writes = code === 4 || code === 8 || code === 13 || code === 16
        const reply = await send(
          frame(3, message(writes ? [0, 1, 0, 0] : [1, 0, 0, 0], RECORD, [op(code, 4, 'l', Buffer.from(payload))])),
        )
        expect(reply.length, 'a well-formed request is answered').to.be.greaterThan(0)
      }),
      { numRuns: 500 },
    )
    await expectUnharmed()
  })

  it('answers every seed', async () => {
    for (const seed of SEEDS) expect((await send(seed)).length).to.be.greaterThan(0)
  })

  it('closes the connection on an oversized frame, an unknown version and an unknown type', async () => {
    expect(await send(frame(3, Buffer.alloc(0), (1 << 20) + 1))).to.have.length(0)
    expect(await send(frame(3, Buffer.alloc(30), 30, 9))).to.have.length(0)
    expect(await send(frame(77, Buffer.alloc(30)))).to.have.length(0)
    await expectUnharmed()
  })

  it('does not nest without end', async () => {
    const deep = Buffer.concat([Buffer.alloc(200_000, 0x91), Buffer.from([0xc0])])
    const reply = await send(frame(3, message([0, 1, 0, 0], RECORD, [op(2, 20, 'l', deep)])))
    expect(reply[8 + 5]).to.equal(4)
    const filter = await send(frame(3, message([3, 0, 0, 0], [...RECORD, field(43, deep)], [])))
    expect(filter.length).to.be.greaterThan(0)
    await expectUnharmed()
  })

  it('waits for the rest of a half-sent request without keeping others waiting', async () => {
    const socket = await open()
    socket.write(SEEDS[1].subarray(0, 20))
    await expectUnharmed()
    const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.write(SEEDS[1].subarray(20))
    expect((await answered)[1]).to.equal(3)
    socket.destroy()
  })

  it('answers pipelined requests in their order', async () => {
    const reply = await send(Buffer.concat([SEEDS[0], SEEDS[1], SEEDS[0]]))
    expect(reply[1]).to.equal(1)
    expect(reply.lastIndexOf(Buffer.from('sindex-list'))).to.be.greaterThan(reply.indexOf(Buffer.from('sindex-list')))
  })

  it('holds 1,000 idle connections', async () => {
    const sockets = await Promise.all(Array.from({ length: 1000 }, open))
    await expectUnharmed()
    for (const socket of sockets) socket.destroy()
    await expectUnharmed()
  })
})
