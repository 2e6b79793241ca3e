import { connect, type Socket } from 'node:net'
import { deflateSync } from 'node:zlib'
import { once } from 'node:events'
import { expect } from 'chai'
import { inside } from '#src/embedded/cdt/span.js'
import { ListValue, MAP_KEY_ORDERED, MapValue, type Value } from '#src/embedded/value/value.js'
import { encodeMsgpack } from '#src/embedded/value/msgpack-writer.js'
import type { EmbeddedServer } from 'skein/embedded'
import { expressionBytes, raw, type Written } from './expression/expression-bytes.js'
import { useRawClient, type RawClient } from './raw-client.js'
import { field, frame, message, op } from './raw-message.js'

const PADDED = 0x10 | 0x80
const EIGHT_MILLION = 8 * 1024 * 1024

const list = (...items: Value[]): ListValue => new ListValue(items)
const LARGE_LIST = encodeMsgpack(new ListValue(Array.from({ length: 500_000 }, () => 1)))
const recordOf = (id: number): Buffer[] => [
  field(0, Buffer.from('test')),
  field(1, Buffer.from('s')),
  field(4, Buffer.alloc(20, id)),
]
const RECORD = recordOf(1)
const CHILDREN = recordOf(251)
const write = (...ops: Buffer[]): Buffer => message([0, 1, 0, 0], RECORD, ops)
const read = (...ops: Buffer[]): Buffer => message([1, 0, 0, 0], RECORD, ops)
const change = (call: ListValue): Buffer => op(4, 20, 'l', encodeMsgpack(call))
const filtered = (expression: Written): Buffer =>
  message([3, 0, 0, 0], [...RECORD, field(43, expressionBytes(expression))], [])

/** Requests that once took gigabytes or the whole time of the server; a test that hangs here has failed. */
describe('embedded server: requests that cost more than they should', function () {
  let server: EmbeddedServer
  let client: RawClient
  useRawClient((connected, started) => void ([client, server] = [connected, started]))
  afterEach('the server goes on', async () => {
    expect(await client.info('status\n')).to.deep.equal({ status: 'ok' })
  })

  const store = async (name: string, type: number, value: Buffer): Promise<void> => {
    expect((await client.send(message([0, 1, 0x10, 0], RECORD, [op(2, type, name, value)]))).code).to.equal(0)
  }

  describe('padding', () => {
    it('is refused where the levels of a context add up to more than a record holds', async () => {
      const levels = Array.from({ length: 100 }, () => [PADDED, EIGHT_MILLION]).flat()
      const { code } = await client.send(write(change(list(0xff, list(...levels), list(1, 1)))))
      expect(code).to.equal(13)
    })

    it('is refused where the operations of a request add up to more than a record holds', async () => {
      const inserts = Array.from({ length: 60 }, (_, i) => change(list(3, (i + 1) * EIGHT_MILLION, 1)))
      expect((await client.send(write(...inserts))).code).to.equal(13)
    })

    it('is refused where the rows of a batch add up to more than a record holds', async () => {
      const insert = change(list(3, EIGHT_MILLION - 10, 1))
      const row = (id: number): Buffer =>
        Buffer.concat([
          Buffer.from([0, 0, 0, id]),
          Buffer.alloc(20, id),
          Buffer.from([0x0a, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 2]),
          RECORD[0],
          RECORD[1],
          insert,
          // Small enough to be stored after all.
          change(list(37, 0, 1, 0)),
        ])
      const rows = Buffer.concat([
        Buffer.from([0, 0, 0, 50, 0x0d]),
        ...Array.from({ length: 50 }, (_, i) => row(i + 1)),
      ])
      const codes = await client.batch(message([8, 0, 0, 0], [field(41, rows)], []))
      expect(codes[1]).to.equal(13)
      expect(codes).to.have.length(51)
    })

    it('is refused where one operation after the other copies what the first one padded', async () => {
      for (const [bin, index] of [
        ['p8', 8_000_000],
        ['p4', 4_000_000],
      ] as const) {
        const insert = op(4, 20, bin, encodeMsgpack(list(3, index, 1)))
        expect((await client.send(write(...Array.from({ length: 60 }, () => insert)))).code, bin).to.equal(13)
      }
    })

    it('of a few million elements in one operation is still a matter of the record size', async () => {
      expect((await client.send(write(change(list(3, 4_000_000, 1))))).code).to.equal(13)
    })
  })

  it('a context of more levels than a value may have is refused', async () => {
    const levels = Array.from({ length: 20_000 }, () => [0x10 | 0x40, 0]).flat()
    expect((await client.send(write(change(list(0xff, list(...levels), list(1, 1)))))).code).to.equal(4)
  })

  describe('expressions', () => {
    const appended = (type: number, opcode: number, to: Written, what: Written): Written => [
      127,
      type,
      0x40,
      [opcode, what],
      to,
    ]
    /** `let v0 = bin, v1 = f(v0), … in size(vn) > 0` */
    const chained = (count: number, step: (before: Written) => Written): Written => {
      const values: Written[] = []
      for (let i = 0; i < count; i++) {
        values.push(raw(`v${i}`), i === 0 ? [81, 4, raw('l')] : step([124, raw(`v${i - 1}`)]))
      }
      return [125, ...values, [3, [127, 2, 0, [16], [124, raw(`v${count - 1}`)]], 0]]
    }

    before(() => store('l', 20, encodeMsgpack(list(1, 2, 3))))

    it('that double a list again and again are refused', async () => {
      const doubled = chained(60, (before) => appended(4, 2, before, before))
      expect((await client.send(filtered(doubled))).code).to.equal(4)
    })

    it('that put a list into itself again and again are refused', async () => {
      const nested = chained(60, (before) => appended(4, 1, appended(4, 1, before, before), before))
      expect((await client.send(filtered(nested))).code).to.equal(4)
    })

    it('that keep a thousand copies of a large list are refused', async () => {
      await store('l', 20, LARGE_LIST)
      const copies = chained(1000, () => [127, 4, 0, [24, 7, 0, 500_000], [81, 4, raw('l')]])
      expect((await client.send(filtered(copies))).code).to.equal(4)
    })

    it('that look for something in a large list a thousand times are refused', async () => {
      const searches = Array.from({ length: 1000 }, (): Written => [9, 2, [81, 4, raw('l')]])
      expect((await client.send(filtered([17, ...searches]))).code).to.equal(4)
    })
  })

  describe('regular expressions', () => {
    const matches = async (pattern: string, text: string): Promise<number> => {
      await store('t', 3, Buffer.from(text))
      return (await client.send(filtered([7, 1, raw(pattern), [81, 3, raw('t')]]))).code
    }

    for (const pattern of ['^(a|a)*$', '^(a+)+$', '^(a*)*b$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a|aa)+$', '(.*)*x']) {
      it(`like ${pattern} take no longer for a text that does not match`, async () => {
        expect(await matches(pattern, `${'a'.repeat(50_000)}!`)).to.equal(27)
      })
    }

    it('with thousands of states match a long text or are refused', async () => {
      expect(await matches('(a?){3000}b', 'a'.repeat(100_000))).to.be.oneOf([4, 27])
    })

    it('with back references are refused when they try too long', async () => {
      expect(await matches('^(a*)*(a*)*(a*)*\\1\\2\\3b$', 'a'.repeat(200))).to.equal(4)
      expect(await matches('^(a+)b\\1$', 'aaabaaa')).to.equal(0)
    })

    it('of a hundred thousand parentheses are refused', async () => {
      const pattern = Buffer.from('('.repeat(100_000) + 'a' + ')'.repeat(100_000))
      const header = Buffer.alloc(5)
      header[0] = 0xdb
      header.writeUInt32BE(pattern.length, 1)
      const expression = Buffer.concat([Buffer.from([0x94, 7, 1]), header, pattern, expressionBytes([81, 3, raw('t')])])
      expect((await client.send(message([3, 0, 0, 0], [...RECORD, field(43, expression)], []))).code).to.equal(4)
    })

    it('that repeat repetitions without end are refused', async () => {
      expect(await matches('((((a{9999}){9999}){9999}){9999})', 'a')).to.equal(4)
      expect(await matches('((((){9999}){9999}){9999}){9999}', 'a')).to.equal(4)
    })
  })

  it('a read of one large bin thirty thousand times is refused', async () => {
    await store('t', 3, Buffer.alloc(900_000, 65))
    const reads = Array.from({ length: 30_000 }, () => op(1, 0, 't', Buffer.alloc(0)))
    expect((await client.send(read(...reads))).code).to.equal(13)
  })

  it('thousands of changes of one large list are refused', async () => {
    await store('l', 20, LARGE_LIST)
    const { code } = await client.send(write(...Array.from({ length: 20_000 }, () => change(list(1, 1)))))
    expect(code).to.equal(4)
  })

  describe('operations that rank, sort or search a large list or map', () => {
    const numbers = Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 60_013)
    const [COUNT, INDEX, RANK] = [5, 1, 3]
    const searched = list(...numbers.slice(0, 5000))
    const repeated = (make: () => Buffer): Buffer[] => Array.from({ length: 500 }, make)

    before(async () => {
      const map = new MapValue(inside({ start: 0, count: numbers.length }), numbers)
      const put = [op(2, 20, 'l', encodeMsgpack(list(...numbers))), op(2, 19, 'm', encodeMsgpack(map))]
      expect((await client.send(message([0, 1, 0x10, 0], RECORD, put))).code).to.equal(0)
    })

    for (const [what, bin, call] of [
      ['ranks of a list', 'l', list(26, COUNT, 0, 59_999)],
      ['relative ranks of a list', 'l', list(27, COUNT, 5, 0, 59_999)],
      ['indexes of ranks of a list', 'l', list(26, INDEX, 0, 59_999)],
      ['ranks of the elements of a list', 'l', list(24, RANK, 1, 59_998)],
      ['values of a list', 'l', list(23, COUNT, searched)],
      ['ranks of a map', 'm', list(106, COUNT, 0, 59_999)],
      ['relative ranks of a map', 'm', list(110, COUNT, 5, 0, 59_999)],
      ['ranks of the entries of a map', 'm', list(104, RANK, 1, 59_998)],
      ['values of a map', 'm', list(108, COUNT, searched)],
    ] as const) {
      it(`are refused after a second for ${what}`, async () => {
        const payload = encodeMsgpack(call)
        const { code } = await client.send(read(...repeated(() => op(3, 20, bin, payload))))
        expect(code).to.equal(4)
      })
    }

    it('are refused after a second for sorts', async () => {
      const sort = encodeMsgpack(list(13, 1))
      expect((await client.send(write(...repeated(() => op(4, 20, 'l', sort))))).code).to.equal(4)
    })

    it('are answered when there is one of them', async () => {
      const { code } = await client.send(read(op(3, 20, 'l', encodeMsgpack(list(26, INDEX, 0, 59_999)))))
      expect(code).to.equal(0)
    })
    it('are answered for thousands of changes inside entries that are found by their key', async () => {
      const keys = Array.from({ length: 4000 }, (_, i) => i)
      const children = new MapValue(
        keys,
        keys.map((i) => new MapValue(['name', 'stars'], ['n'.repeat(40), i])),
        MAP_KEY_ORDERED,
      )
      const stored = message([0, 1, 0, 0], CHILDREN, [op(2, 19, 'c', encodeMsgpack(children))])
      expect((await client.send(stored)).code).to.equal(0)
      const put = (key: number): Buffer =>
        op(4, 20, 'c', encodeMsgpack(list(0xff, list(0x22, key), list(67, 'stars', key + 1, 1))))
      expect((await client.send(message([0, 1, 0, 0], CHILDREN, keys.map(put)))).code).to.equal(0)
    })
  })

  describe('operations on large blobs and sketches', () => {
    const [BITS_MODIFY, HLL_READ, HLL_MODIFY] = [13, 15, 16]
    const repeated = (make: () => Buffer): Buffer[] => Array.from({ length: 150 }, make)

    const LARGE = recordOf(250)
    const change = (...ops: Buffer[]): Buffer => message([0, 1, 0, 0], LARGE, ops)

    it('are refused after a second for bits', async () => {
      expect((await client.send(change(op(2, 4, 'b', Buffer.alloc(900_000, 5))))).code).to.equal(0)
      const not = encodeMsgpack(list(7, 0, 7_200_000))
      expect((await client.send(change(...repeated(() => op(BITS_MODIFY, 4, 'b', not))))).code).to.equal(4)
    })

    it('are refused after a second for HyperLogLog', async () => {
      expect((await client.send(change(op(HLL_MODIFY, 4, 'h', encodeMsgpack(list(0, 15, 10)))))).code).to.equal(0)
      const counts = (number: number): Buffer =>
        message(
          [1, 0, 0, 0],
          LARGE,
          Array.from({ length: number }, () => op(HLL_READ, 4, 'h', encodeMsgpack(list(50)))),
        )
      expect((await client.send(counts(1))).code).to.equal(0)
      expect((await client.send(counts(600))).code).to.equal(4)
    })
  })

  describe('a client that does not read', () => {
    /** Bytes that the server took from a client that goes on sending for as long as they are taken. */
    async function takenFrom(first: Buffer, more: Buffer): Promise<number> {
      const socket = connect(server.port, server.host)
      await once(socket, 'connect')
      socket.pause()
      socket.on('error', () => undefined)
      socket.write(first)
      // Sockets of the loopback device buffer some megabytes on either side.
      const ENOUGH = 200 << 20
      let sent = 0
      let idle = 0
      while (sent < ENOUGH && idle < 40) {
        if (socket.writableLength > 1 << 20) {
          idle++
          await client.info('status\n')
          continue
        }
        idle = 0
        socket.write(more)
        sent += more.length
      }
      socket.destroy()
      return sent
    }

    before(async () => {
      for (let id = 1; id <= 60; id++) {
        const put = message([0, 1, 0, 0], recordOf(id), [op(2, 3, 't', Buffer.alloc(500_000, 65))])
        expect((await client.send(put)).code).to.equal(0)
      }
    })

    it('and asks for a query is not listened to until it does', async () => {
      const partitions = Buffer.alloc(4096 * 2)
      for (let i = 0; i < 4096; i++) partitions.writeUInt16LE(i, i * 2)
      const query = message([1, 0, 4, 0], [RECORD[0], RECORD[1], field(7, Buffer.alloc(8)), field(11, partitions)], [])
      expect(await takenFrom(frame(3, query), Buffer.alloc(1 << 20))).to.be.below(100 << 20)
    })

    it('and asks for large records is not listened to until it does', async () => {
      const get = frame(3, message([3, 0, 0, 0], RECORD, []))
      const gets = Buffer.concat(Array.from({ length: 10_000 }, () => get))
      expect(await takenFrom(get, gets)).to.be.below(100 << 20)
    })

    it('and asks for a batch is not listened to until it does', async () => {
      const row = Buffer.concat([
        Buffer.from([0, 0, 0, 0]),
        Buffer.alloc(20, 1),
        Buffer.from([0x0a, 0x03, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]),
        RECORD[0],
        RECORD[1],
      ])
      const again = Buffer.concat([Buffer.from([0, 0, 0, 0]), Buffer.alloc(20, 1), Buffer.from([0x01])])
      const repeated = Array.from({ length: 50_000 }, () => again)
      const rows = Buffer.concat([Buffer.from([0, 0, 0xc3, 0x51, 0x0d]), row, ...repeated])
      const batch = frame(3, message([8, 0, 0, 0], [field(41, rows)], []))
      expect(await takenFrom(batch, Buffer.alloc(1 << 20))).to.be.below(100 << 20)
    })
  })

  describe('compressed requests', () => {
    const compressed = (content: Buffer, size = content.length): Buffer => {
      const header = Buffer.alloc(8)
      header.writeBigUInt64BE(BigInt(size))
      return frame(4, Buffer.concat([header, deflateSync(content)]))
    }
    const send = async (bytes: Buffer): Promise<Socket> => {
      const socket = connect(server.port, server.host)
      await once(socket, 'connect')
      socket.on('error', () => undefined)
      socket.write(bytes)
      return socket
    }

    it('that inflate to a hundred megabytes do not keep other clients waiting', async () => {
      const content = Buffer.alloc(120 << 20)
      content[1] = 3
      const bomb = compressed(content)
      const sockets = await Promise.all(Array.from({ length: 4 }, () => send(bomb)))
      const order: string[] = []
      const answered = sockets.map((socket) => once(socket, 'data').then(() => order.push('bomb')))
      await client.info('status\n').then(() => order.push('status'))
      await Promise.all(answered)
      expect(order).to.deep.equal(['status', 'bomb', 'bomb', 'bomb', 'bomb'])
      for (const socket of sockets) socket.destroy()
    })

    it('that say a wrong size, or cannot be inflated, close the connection', async () => {
      const get = frame(3, message([3, 0, 0, 0], RECORD, []))
      const [reply] = (await once(await send(compressed(get)), 'data')) as [Buffer]
      expect(reply[1]).to.equal(3)
      for (const wrong of [
        compressed(get, 10),
        compressed(get, 2 ** 50),
        compressed(Buffer.alloc(5_000_000), 2_000_000),
      ]) {
        await once(await send(wrong), 'close')
      }
    })
  })

  describe('info requests', () => {
    it('with a million digits for a time are refused', async () => {
      const [answer] = Object.values(await client.info(`truncate:namespace=test;set=s;lut=${'9'.repeat(1_000_000)}\n`))
      expect(answer).to.equal('ERROR:4:bad lut')
    })

    it('of many megabytes or lines are refused as a whole', async () => {
      expect(await client.info('\n'.repeat(20_000_000))).to.deep.equal({ '': 'ERROR:4:the request is too long' })
      expect(await client.info('statistics\n'.repeat(100_000))).to.deep.equal({
        statistics: 'ERROR:4:the request is too long',
      })
    })

    it('create no index under a name or on a set that would break the list of indexes', async () => {
      for (const definition of [
        'indexname=x:ns=y;set=s;bin=b;type=string',
        'indexname=x;set=a:b;bin=b;type=string',
        `indexname=${'x'.repeat(300)};set=s;bin=b;type=string`,
      ]) {
        const [answer] = Object.values(await client.info(`sindex-create:namespace=test;${definition}\n`))
        expect(answer, definition).to.match(/^ERROR:4:/)
      }
    })

    it('create no index of a type or kind that is only the name of something every object has', async () => {
      for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
        for (const rest of [`type=${word}`, `type=string;indextype=${word}`]) {
          const [answer] = Object.values(
            await client.info(`sindex-create:namespace=test;indexname=i;set=s;bin=b;${rest}\n`),
          )
          expect(answer, rest).to.match(/^ERROR:4:bad/)
        }
      }
      expect(await client.info('sindex-list\n')).to.deep.equal({ 'sindex-list': '' })
    })
  })
})
