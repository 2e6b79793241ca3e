import Aerospike from 'aerospike'
import { expect } from 'chai'
import fc from 'fast-check'
import { read } from '#src/plan/command.js'
import { query } from '#src/plan/query-command.js'
import { recordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { decodeStored } from '#src/driver/decode-stored.js'
import { needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { connectTo } from './set-up.js'

const EXACT = 'exact_reads'
const OTHER = 'exact_others'

describe('records of sets with maps that have bytes as keys', () => {
  let driver: Driver
  let namespace: string
  before(async function () {
    const server = await sharedServer()
    namespace = needMode(this, server, 'ap')
    driver = await connectTo(server, { byteKeyed: new Map([[EXACT, new Set(['seal'])]]) })
  })
  after(() => driver?.close())

  const put = (set: string, key: number, bins: object): Promise<unknown> =>
    driver.client.put(new Aerospike.Key(namespace, set, key), bins as never)
  const key = (set: string, id: number): ReturnType<typeof recordKey> => recordKey(namespace, set, id)
  const map = new Map([
    [Buffer.of(0xfe), 1],
    [Buffer.of(0xff), 2],
  ])

  it('are read alone, in a batch with others and by a query with every key', async () => {
    const bins = { map, list: [1, map], seal: Buffer.of(0x92, 1, 2), text: 'a' }
    for (const id of [1, 2]) await put(EXACT, id, bins)
    await put(OTHER, 1, { map: { a: 1 }, bytes: Buffer.of(0x91, 1) })
    expect((await driver.readOne(read('Thing', key(EXACT, 1))))!.bins).to.deep.equal(bins)
    expect((await driver.readOne(read('Thing', key(EXACT, 1), ['map'])))!.bins).to.deep.equal({ map })
    const all = [key(EXACT, 1), key(OTHER, 1), key(EXACT, 3), key(EXACT, 2)]
    const found = await driver.read(all.map((each) => read('Thing', each)))
    expect(found.map((record) => record?.bins)).to.deep.equal([
      bins,
      { map: { a: 1 }, bytes: Buffer.of(0x91, 1) },
      undefined,
      bins,
    ])
    const scanned: unknown[] = []
    for await (const step of driver.query(query({ entity: 'Thing', namespace, set: EXACT, bins: 'all' })))
      scanned.push(...step.map((record) => record.bins))
    expect(scanned).to.deep.equal([bins, bins])
  })

  it('hold values of every kind, as the client returns them elsewhere', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '1'), maxLength: 40 })
    const integer = fc.oneof(
      fc.integer(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.integer({ min: -40_000, max: 70_000 }),
    )
    const scalar = fc.oneof(
      integer,
      text,
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true }).map((each) => new Aerospike.Double(each)),
      fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        scalar,
        fc.array(tie('value'), { maxLength: 20 }),
        fc.dictionary(text, tie('value'), { maxKeys: 18 }),
        fc.array(fc.tuple(integer, tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 5 }), async (list) => {
        for (const set of [EXACT, OTHER]) await put(set, 9, { v: list })
        const [exact, other] = await driver.read([read('Thing', key(EXACT, 9)), read('Thing', key(OTHER, 9))])
        expect(exact!.bins).to.deep.equal(other!.bins)
      }),
      { numRuns: 60 },
    )
  })

  it('keep bytes that are no list or map as they are', () => {
    for (const bytes of [[], [0x05], [0x92, 1], [0x91, 1, 1], [0xc1], [0xa2, 3, 97], [0xc7, 0, 1]])
      expect(decodeStored(Buffer.from(bytes)), Buffer.from(bytes).toString('hex')).to.equal(undefined)
  })
})
