import { isDeepStrictEqual } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../embedded/official-client.js'
import { codec, goldenCases, plain, type Command } from './golden-cases.js'

/** A line sets up a group of records, changes them, or is a case with the answer of a real server. */
interface QueryLine {
  readonly n?: number
  readonly group?: number
  readonly records?: unknown
  readonly changes?: readonly Command[]
  readonly query?: unknown
  /** Truncates the group's set before the query. */
  readonly cut?: unknown
  /** Truncates a set of its own. */
  readonly truncate?: unknown
  readonly all?: unknown
  readonly answer?: unknown
}

const KINDS = ['query', 'cut', 'truncate'] as const
type Kind = (typeof KINDS)[number]

describe('Recorded queries', () => {
  const lines = goldenCases<QueryLine>('queries.jsonl')
  const mismatches = new Map<Kind, string[]>(KINDS.map((kind) => [kind, []]))
  let connected: Connected

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    // Groups have sets of their own, so only the lines of one group must keep their order. A few at a time: their records expire.
    const groups = [...new Set(lines.map((line) => line.group))]
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < groups.length) {
        const group = groups[next++]
        await replayInOrder(lines.filter((line) => line.group === group))
      }
    }
    await Promise.all([lane(), lane(), lane()])
  })

  after(() => connected?.close())

  async function replayInOrder(group: readonly QueryLine[]): Promise<void> {
    for (const line of group) {
      const got = await replay(connected.client, line)
      if (line.n === undefined || isDeepStrictEqual(got, line.answer)) continue
      mismatches.get(kindOf(line))!.push(JSON.stringify({ ...line, got }))
    }
  }

  it('are all there', () => expect(lines.filter((line) => line.n !== undefined)).to.have.length(400))

  it('on indexes and on sets are answered as a real server answered them', () => {
    expect(mismatches.get('query')).to.deep.equal([])
  })

  it('after a truncation up to a given time are answered as a real server answered them', () => {
    expect(mismatches.get('cut')).to.deep.equal([])
  })

  it('find what a truncation left, to the millisecond', () => {
    expect(mismatches.get('truncate')).to.deep.equal([])
  })
})

function kindOf(line: QueryLine): Kind {
  return line.truncate ? 'truncate' : line.cut ? 'cut' : 'query'
}

async function replay(client: Aerospike.Client, line: QueryLine): Promise<unknown> {
  const { group = 0, changes, truncate, cut, query = { nobins: true }, all } = line
  if (line.records) return codec.loadGroup(Aerospike, client, line)
  const set = codec.groupSet(group)
  if (changes) {
    await codec.pause(30)
    const keyOf = (id: number) => codec.recordKey(Aerospike, set, id)
    for (const change of changes) await codec.runCommand(Aerospike, client, keyOf, change)
    return undefined
  }
  if (truncate) return plain(await codec.runTruncate(Aerospike, client, truncate))
  if (cut) await codec.truncateSet(Aerospike, client, set, cut)
  return plain(await codec.runQuery(Aerospike, client, group, query, all))
}
