import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, refusal, type Connected } from '../official-client.js'

const { Double, Key, exp, lists, maps, operations: op, policy } = Aerospike
const SET = 'metadata'

describe('The metadata that expressions see', () => {
  let connected: Connected
  let client: Client
  let lastId = 0
  const newKey = () => new Key('test', SET, ++lastId)

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
  })
  after(() => connected.close())

  type Meta = Parameters<Client['operate']>[2]
  type Policy = Parameters<Client['operate']>[3]

  /** The value of an expression in an operate that also does these operations. */
  async function seen(
    key: Aerospike.Key,
    expression: Aerospike.AerospikeExp,
    others: Aerospike.operations.Operation[] = [],
    meta?: Meta,
    options?: Policy,
  ): Promise<unknown> {
    const read = exp.operations.read('seen', expression, exp.expReadFlags.EVAL_NO_FAIL)
    return (await client.operate(key, [...others, read], meta, options)).bins.seen
  }

  describe('of its size', () => {
    /** Header and set name; the whole is rounded up to 16. */
    const BASE = 40 + 1 + SET.length
    const rounded = (size: number) => Math.ceil(size / 16) * 16
    const sizeOf = async (bins: Aerospike.AerospikeBins, meta?: Meta, options?: Policy) => {
      const key = newKey()
      await client.put(key, bins, meta, options)
      const sizes = [await seen(key, exp.recordSize()), await seen(key, exp.memorySize())]
      expect(sizes[0]).to.equal(sizes[1])
      return sizes[0]
    }
    /** The size of a record whose rest is filled up by `bin`, so that one byte more would need another 16. */
    const filledUp = (bytes: number) => ({ f: 'x'.repeat(rounded(BASE + bytes + 7) - (BASE + bytes + 7)) })

    const cases: [string, Aerospike.AerospikeBins, number, Meta?, Policy?][] = [
      ['a small integer', { i: 255 }, 2 + 3],
      ['an integer of two bytes', { i: 256 }, 2 + 4],
      ['an integer of four bytes', { i: 65_536 }, 2 + 6],
      ['an integer of eight bytes', { i: 2 ** 32 }, 2 + 10],
      ['a negative integer', { i: -1 }, 2 + 10],
      ['a double', { d: new Double(1) }, 2 + 9],
      ['a boolean', { b: true }, 2 + 2],
      ['a string', { s: 'naïve' }, 2 + 5 + 6],
      ['bytes', { y: Buffer.alloc(3) }, 2 + 5 + 3],
      ['a list', { l: [1, 2, 3] }, 2 + 5 + 4],
      ['a long name', { fifteen_letters: 1 }, 16 + 3],
      ['an expiry', { i: 1 }, 2 + 3 + 4, { ttl: 100 }],
      ['an integer key', { i: 1 }, 2 + 3 + 10, undefined, { key: policy.key.SEND }],
    ]
    for (const [what, bins, bytes, meta, options] of cases) {
      it(`count what ${what} takes`, async () => {
        const full = { ...bins, ...filledUp(bytes) }
        expect(await sizeOf(full, meta, options)).to.equal(rounded(BASE + bytes + 7))
        expect(await sizeOf({ ...full, f: `${full.f}x` }, meta, options)).to.equal(rounded(BASE + bytes + 7) + 16)
      })
    }

    it('are those before the writes of the same operate', async () => {
      const key = newKey()
      const large = 'x'.repeat(20_000)
      expect(await seen(key, exp.recordSize(), [op.write('a', large)])).to.equal(16)
      const first = rounded(BASE + 2 + 5 + 20_000)
      expect(await seen(key, exp.recordSize(), [op.write('b', large)])).to.equal(first)
      expect(await seen(key, exp.recordSize(), [op.delete(), op.write('c', 1)])).to.equal(
        rounded(BASE + 2 * (2 + 5 + 20_000)),
      )
      expect(await seen(key, exp.recordSize())).to.equal(rounded(BASE + 5))
    })
  })

  it('of its times are those after the write', async () => {
    const key = newKey()
    await client.put(key, { a: 1 }, { ttl: 100 })
    await connected.server.clock.advance(10)
    expect(await seen(key, exp.ttl())).to.be.within(88, 91)
    expect(await seen(key, exp.ttl(), [op.incr('a', 1)], { ttl: 500 })).to.be.within(499, 500)
    expect(await seen(key, exp.ttl(), [op.incr('a', 1)])).to.equal(-1)
    expect(await seen(key, exp.gt(exp.voidTime(), exp.int(0)), [op.incr('a', 1)], { ttl: 500 })).to.equal(true)
    await connected.server.clock.advance(10)
    expect(await seen(key, exp.sinceUpdate())).to.be.within(10_000, 12_000)
    expect(await seen(key, exp.sinceUpdate(), [op.incr('a', 1)])).to.be.within(0, 2000)
    expect(await seen(newKey(), exp.gt(exp.lastUpdate(), exp.int(0)), [op.write('a', 1)])).to.equal(true)
  })

  it('of its key are those before the operate that first sends it', async () => {
    const key = new Key('test', SET, `key ${++lastId}`)
    const send = { key: policy.key.SEND }
    expect(await seen(key, exp.keyExist(), [op.write('a', 1)], undefined, send)).to.equal(false)
    expect(await seen(key, exp.keyExist(), [op.write('a', 2)], undefined, send)).to.equal(true)
    const other = new Key('test', SET, `key ${++lastId}`)
    expect(await seen(other, exp.keyStr(), [op.write('a', 1)], undefined, send)).to.equal(null)
    expect(await seen(other, exp.keyStr(), [lists.append('l', 1), maps.put('m', 'k', 1)])).to.equal(other.key)
  })

  it('does not matter to a replace that leaves no bins: it finds nothing, and the record stays', async () => {
    const key = newKey()
    await client.put(key, { a: 1 })
    const nothing = [exp.operations.write('a', exp.nil(), exp.expWriteFlags.ALLOW_DELETE)]
    for (const exists of [policy.exists.REPLACE, policy.exists.CREATE_OR_REPLACE]) {
      expect(await refusal(client.operate(key, nothing, undefined, { exists }))).to.equal(2)
    }
    expect((await client.get(key)).bins).to.deep.equal({ a: 1 })
  })
})
