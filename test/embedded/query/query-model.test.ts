import Aerospike, { type AerospikeBins, type Client, type Query } from 'aerospike'
import { expect } from 'chai'
import fc from 'fast-check'
import { connectOfficialClient, type Connected } from '../official-client.js'
import { createIndex, keyOf, keysOf, sorted } from './query-client.js'

const { filter, indexType, Key } = Aerospike
const SETS = ['red', 'blue'] as const

interface Write {
  readonly set: (typeof SETS)[number]
  readonly id: number
  /** Undefined deletes the record. */
  readonly bins: { n?: number; s?: string; l?: (number | string)[]; m?: Record<string, number> } | undefined
}

const small = fc.integer({ min: -3, max: 6 })
const word = fc.constantFrom('a', 'b', 'ä', '')
const bins = fc.record(
  {
    n: small,
    s: word,
    l: fc.array(fc.oneof(small, word), { maxLength: 4 }),
    m: fc.dictionary(word, small, { maxKeys: 3 }),
  },
  { requiredKeys: [] },
)
const write: fc.Arbitrary<Write> = fc.record({
  set: fc.constantFrom(...SETS),
  id: fc.nat(25),
  bins: fc.option(bins, { nil: undefined, freq: 4 }),
})
const question = fc.record({
  set: fc.constantFrom(...SETS),
  low: small,
  width: fc.nat(4),
  word,
  pageSize: fc.integer({ min: 1, max: 9 }),
})
type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never

/** The model of a query: all records, looked at one by one. */
class Model {
  readonly #records = new Map<string, Write>()

  apply(change: Write): void {
    const kept = Object.keys(change.bins ?? {}).length > 0
    if (kept) this.#records.set(`${change.set}/${change.id}`, change)
    else this.#records.delete(`${change.set}/${change.id}`)
  }

  find(set: string, matches: (bins: NonNullable<Write['bins']>) => boolean): number[] {
    const found = [...this.#records.values()].filter((record) => record.set === set && matches(record.bins!))
    return sorted(found.map((record) => record.id))
  }
}

describe('Queries agree with a plain model', () => {
  let connected: Connected
  let client: Client

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    client = connected.client
  })

  after(() => connected.close())

  async function apply({ set, id, bins: written }: Write): Promise<void> {
    const key = new Key('test', set, id)
    if (written === undefined || Object.keys(written).length === 0) await client.remove(key).catch(() => undefined)
    else {
      const exists = Aerospike.policy.exists.CREATE_OR_REPLACE
      await client.put(key, written as AerospikeBins, undefined, { exists, key: Aerospike.policy.key.SEND })
    }
  }

  async function indexAll(): Promise<void> {
    for (const set of SETS) {
      await createIndex(client, `${set}_n`, { set, bin: 'n' })
      await createIndex(client, `${set}_l`, { set, bin: 'l', type: 'LIST' })
      await createIndex(client, `${set}_ls`, { set, bin: 'l', type: 'LIST', datatype: 'STRING' })
      await createIndex(client, `${set}_v`, { set, bin: 'm', type: 'MAPVALUES' })
      await createIndex(client, `${set}_k`, { set, bin: 'm', type: 'MAPKEYS', datatype: 'STRING' })
      await createIndex(client, `${set}_s`, { set, bin: 's', datatype: 'STRING' })
    }
  }

  async function dropAll(): Promise<void> {
    // A truncation leaves records of the same millisecond.
    await connected.server.clock.advance(1)
    for (const set of SETS) {
      for (const suffix of ['n', 'l', 'ls', 'v', 'k', 's']) await client.indexRemove('test', `${set}_${suffix}`)
      await client.truncate('test', set, 0)
    }
  }

  function ask(set: string, predicate?: Parameters<Query['where']>[0], pageSize?: number): Query {
    const query = client.query('test', set, pageSize ? { paginate: true, maxRecords: pageSize } : {})
    if (predicate) query.where(predicate)
    return query
  }

  async function pagesOf(query: Query): Promise<number[]> {
    const found: number[] = []
    do found.push(...(await query.results()).map(keyOf))
    while (query.hasNextPage())
    return sorted(found)
  }

  async function compare(model: Model, { set, low, width, word: text, pageSize }: Question): Promise<void> {
    const high = low + width
    const inRange = (value: unknown) => typeof value === 'number' && value >= low && value <= high
    const questions: [Parameters<Query['where']>[0] | undefined, (record: NonNullable<Write['bins']>) => boolean][] = [
      [undefined, () => true],
      [filter.range('n', low, high), ({ n }) => inRange(n)],
      [filter.equal('n', low), ({ n }) => n === low],
      [filter.range('l', low, high, indexType.LIST), ({ l }) => l?.some(inRange) ?? false],
      [filter.range('m', low, high, indexType.MAPVALUES), ({ m }) => Object.values(m ?? {}).some(inRange)],
    ]
    if (text !== '') {
      questions.push(
        [filter.equal('s', text), ({ s }) => s === text],
        [filter.contains('l', text, indexType.LIST), ({ l }) => l?.includes(text) ?? false],
        [filter.contains('m', text, indexType.MAPKEYS), ({ m }) => m !== undefined && text in m],
      )
    }
    for (const [predicate, matches] of questions) {
      const expected = model.find(set, matches)
      expect(await keysOf(ask(set, predicate))).to.deep.equal(expected)
      expect(await pagesOf(ask(set, predicate, pageSize))).to.deep.equal(expected)
    }
  }

  it('whatever was written before and after the indexes were made', async function () {
    const history = fc.array(write, { minLength: 5, maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(history, history, question, async (before, after, asked) => {
        await dropAll()
        const model = new Model()
        for (const change of before) await apply(change).then(() => model.apply(change))
        await indexAll()
        for (const change of after) await apply(change).then(() => model.apply(change))
        await compare(model, asked)
      }),
      { numRuns: 15 },
    )
  })
})
