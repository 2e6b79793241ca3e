import { isDeepStrictEqual } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../embedded/official-client.js'
import { codec, eachConcurrently, goldenCases, plain } from './golden-cases.js'

interface OperateCase {
  readonly n: number
  readonly start: unknown
  /** Operations done one by one before the recorded call, whatever they answer. */
  readonly prepare: readonly unknown[]
  /** The operations of the recorded call, each headed by its name. */
  readonly ops: readonly [string, ...unknown[]][]
  /** Answer of a real server, or its result code. */
  readonly result?: unknown
  readonly error?: number
  /** Contents of the record afterwards. */
  readonly after: unknown
  readonly gen: number
}

type Answer = Pick<OperateCase, 'result' | 'error' | 'after' | 'gen'>

const IN_FLIGHT = 48

/** Replays the recorded `operate` calls of a file, with one test for each operation that heads a call. */
export function replayOperateCases(file: string, count: number): void {
  const cases = goldenCases<OperateCase>(file)
  const operations = [...new Set(cases.map((each) => each.ops[0][0]))].sort()
  const mismatches = new Map<number, Answer>()
  let connected: Connected

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    await eachConcurrently(cases, IN_FLIGHT, async (each) => {
      const { result, error, after, gen } = each
      const got = await replay(connected.client, each)
      if (!isDeepStrictEqual(plain(got), plain({ result, error, after, gen }))) mismatches.set(each.n, got)
    })
  })

  after(() => connected?.close())

  it('are all there', () => expect(cases).to.have.length(count))

  for (const operation of operations) {
    it(`that start with ${operation} are answered as a real server answered them`, () => {
      const group = cases.filter((each) => each.ops[0][0] === operation)
      const missed = group.filter((each) => mismatches.has(each.n))
      const shown = missed.slice(0, 3).map((each) => JSON.stringify({ ...each, got: mismatches.get(each.n) }))
      expect(shown, `${missed.length} of ${group.length} differ`).to.deep.equal([])
    })
  }
}

async function replay(client: Aerospike.Client, { n, start, prepare, ops }: OperateCase): Promise<Answer> {
  const key = new Aerospike.Key('test', 'golden', `c-${n}`)
  const operate = (calls: readonly unknown[]) =>
    client.operate(
      key,
      calls.map((call) => codec.buildOp(Aerospike, call)),
    )
  await client.put(key, codec.decodeBins(Aerospike, start))
  for (const call of prepare) await operate([call]).catch(() => undefined)
  const answer = await operate(ops).then(
    (record) => ({ result: codec.encode(record.bins) }),
    (error: Aerospike.AerospikeError) => ({ error: Number(error.code) }),
  )
  const { bins, gen } = await client.get(key)
  return { ...answer, after: codec.encode(bins), gen }
}
