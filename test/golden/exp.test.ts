import { isDeepStrictEqual } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../embedded/official-client.js'
import { codec, eachConcurrently, goldenCases } from './golden-cases.js'

interface ExpressionCase {
  readonly n: number
  readonly start: unknown
  readonly kind: 'bool' | 'int' | 'float' | 'list'
  readonly exp: unknown
  /** Answer of a real server to an expression read, or its result code. */
  readonly read?: unknown
  readonly readError?: number
  /** Answer of a real server to a read with the expression as filter. */
  readonly filter?: number
}

const KINDS = ['bool', 'int', 'float', 'list'] as const
const TIMEOUT = { totalTimeout: 20_000 }
const IN_FLIGHT = 48

describe('Recorded expressions', () => {
  const cases = goldenCases<ExpressionCase>('exp.jsonl')
  const mismatches = new Map<string, string[]>(KINDS.map((kind) => [kind, []]))
  let connected: Connected

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    await eachConcurrently(cases, IN_FLIGHT, async (each) => {
      const { read, readError, filter } = each
      const want = JSON.parse(JSON.stringify({ read, readError, filter })) as unknown
      const got = JSON.parse(JSON.stringify(await replay(connected.client, each))) as unknown
      if (!isDeepStrictEqual(got, want)) mismatches.get(each.kind)!.push(JSON.stringify({ ...each, got }))
    })
  })

  after(() => connected?.close())

  it('are all there', () => expect(cases).to.have.length(2500))

  for (const kind of KINDS) {
    it(`of kind ${kind} are answered as a real server answered them`, () => {
      const missed = mismatches.get(kind)!
      expect(missed.slice(0, 5), `${missed.length} differ`).to.deep.equal([])
    })
  }
})

async function replay(client: Aerospike.Client, { n, start, kind, exp }: ExpressionCase): Promise<unknown> {
  const key = new Aerospike.Key('test', 'goldenexp', `e-${n}`)
  await client.put(key, codec.decodeBins(Aerospike, start), undefined, {
    key: Aerospike.policy.key.SEND,
    ...TIMEOUT,
  })
  const expression = codec.buildExp(Aerospike, exp)
  const read = async () => {
    const { bins } = await client.operate(key, [Aerospike.exp.operations.read('r', expression, 0)])
    return codec.encode(bins.r)
  }
  const got: { read?: unknown; readError?: number; filter?: number } = {}
  await read().then(
    (value) => (got.read = value),
    (error: Aerospike.AerospikeError) => (got.readError = Number(error.code)),
  )
  if (kind === 'bool') {
    await client.get(key, { filterExpression: expression, ...TIMEOUT }).then(
      () => (got.filter = 0),
      (error: Aerospike.AerospikeError) => (got.filter = Number(error.code)),
    )
  }
  return got
}
