import { isDeepStrictEqual } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { connectOfficialClient, type Connected } from '../embedded/official-client.js'
import { codec, eachConcurrently, goldenCases, plain, type Command } from './golden-cases.js'

interface CommandsCase {
  readonly n: number
  readonly commands: readonly Command[]
  /** Answers of a real server, one for each command. */
  readonly answers: readonly unknown[]
  /** Contents of the records in the end. */
  readonly after: readonly unknown[]
}

const NAMES = ['put', 'get', 'exists', 'meta', 'select', 'remove', 'operate', 'batchRead', 'batchWrite'] as const
const AFTER = 'the records afterwards'
const IN_FLIGHT = 32

describe('Recorded sequences of commands', () => {
  const cases = goldenCases<CommandsCase>('commands.jsonl')
  const mismatches = new Map<string, string[]>([...NAMES, AFTER].map((name) => [name, []]))
  let connected: Connected

  before(async () => {
    connected = await connectOfficialClient({ namespaces: ['test:ap'] })
    await eachConcurrently(cases, IN_FLIGHT, async (each) => {
      const found = await firstMismatch(connected.client, each)
      if (found) mismatches.get(found.name)!.push(JSON.stringify({ ...found, ...each }))
    })
  })

  after(() => connected?.close())

  it('are all there', () => expect(cases).to.have.length(1500))

  for (const name of NAMES) {
    it(`with ${name} are answered as a real server answered them`, () => {
      expect(mismatches.get(name)).to.deep.equal([])
    })
  }

  it('leave behind the records that a real server held in the end', () => {
    expect(mismatches.get(AFTER)).to.deep.equal([])
  })
})

interface Mismatch {
  readonly name: string
  readonly at: number
  readonly got: unknown
}

async function firstMismatch(client: Aerospike.Client, each: CommandsCase): Promise<Mismatch | undefined> {
  const keyOf = (record: number) => new Aerospike.Key('test', 'goldencmd', `c-${each.n}-${record}`)
  const gets = each.after.map((_, record): Command => ['get', record, null])
  const wanted = [...each.answers, ...each.after]
  for (const [at, command] of [...each.commands, ...gets].entries()) {
    const got = plain(await codec.runCommand(Aerospike, client, keyOf, command))
    if (isDeepStrictEqual(got, wanted[at])) continue
    return { name: at < each.commands.length ? command[0] : AFTER, at, got }
  }
  return undefined
}
