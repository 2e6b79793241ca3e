import Aerospike, { type AerospikeExp, type Client } from 'aerospike'
import { expect } from 'chai'
import { open, Bin, Key as KeyOf, Record as Entity, SkeinError } from 'skein'
import { startEmbedded } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

const { cdt, exp, filter, indexDataType, indexType, Key, operations: op } = Aerospike
const key = new Key('test', 'demo', 1)

/** Requests that an older release may not know, and the answer it gives then. */
interface Novelty {
  readonly since: string
  readonly before: string
  readonly refused: number
  readonly ask: (client: Client) => Promise<unknown>
}

const read = (expression: AerospikeExp) => [exp.operations.read('r', expression, 0)]
const children = () => new cdt.Context().addAllChildren()

async function indexOn(client: Client, index: string, parameters: string): Promise<void> {
  await client.infoAny(`sindex-create:namespace=test;set=demo;indexname=${index};${parameters}`)
}

const NOVELTIES: Record<string, Novelty> = {
  'a selection by path': {
    since: '8.1.2',
    before: '8.1.1',
    refused: 4,
    ask: (client) => client.operate(key, [op.selectByPath('l', exp.pathSelectFlags.VALUE, children())]),
  },
  'a path in an expression': {
    since: '8.1.2',
    before: '8.1',
    // A call is looked at when it runs: one that is not known has no value.
    refused: 26,
    ask: (client) =>
      client.operate(
        key,
        read(exp.selectByPath(exp.binList('l'), exp.type.LIST, exp.pathSelectFlags.VALUE, children())),
      ),
  },
  'an operation in a query': {
    since: '8.1.2',
    before: '8.1.1.3',
    // The client itself refuses, by the server's build.
    refused: -2,
    ask: (client) => client.query('test', 'demo', { ops: [Aerospike.lists.size('l')] }).results(),
  },
  'a set index made by command': {
    since: '8.1.2',
    before: '8.1.1',
    refused: 4,
    ask: (client) => indexOn(client, 'whole', 'indextype=SET'),
  },
  'an index on an expression': {
    since: '8.1',
    before: '8.0',
    refused: 4,
    ask: (client) => indexOn(client, 'i', `exp=${client.expressionToBase64(exp.binInt('n'))};type=NUMERIC`),
  },
  'a query by an expression': {
    since: '8.1',
    before: '8.0',
    refused: 4,
    ask: async (client) => {
      await indexOn(client, 'i', `exp=${client.expressionToBase64(exp.binInt('n'))};type=NUMERIC`).catch(
        () => undefined,
      )
      const query = client.query('test', 'demo')
      query.whereWithExp(filter.equal(null, 1), exp.binInt('n'))
      return query.results()
    },
  },
  'a query by the name of its index': {
    since: '8.1',
    before: '8.0.0.9',
    refused: 4,
    ask: async (client) => {
      await indexOn(client, 'i', 'bin=n;type=NUMERIC')
      const query = client.query('test', 'demo')
      query.whereWithIndexName(filter.equal(null, 1), 'i')
      return query.results()
    },
  },
  'the info command release': {
    since: '8.1',
    before: '8.0',
    refused: 4,
    ask: (client) => client.infoAny('release'),
  },
  'an index on bytes': {
    since: '7.0',
    before: '6.4',
    refused: 4,
    ask: (client) => indexOn(client, 'i', 'bin=y;type=BLOB'),
  },
  'the size of a record': {
    since: '7.0',
    before: '6.4',
    refused: 4,
    ask: (client) => client.operate(key, read(exp.recordSize())),
  },
}

describe('A server of an older build', () => {
  let connected: Connected | undefined

  async function serverOf(build?: string, namespace = 'test:ap'): Promise<Client> {
    connected = await connectOfficialClient({ namespaces: [namespace], build })
    await connected.client.put(key, { n: 1, l: [1, 2] })
    return connected.client
  }

  afterEach(async () => {
    await connected?.close()
    connected = undefined
  })

  it('tells its build, and the newest one its release too', async () => {
    expect(await (await serverOf()).infoAny('release')).to.equal(
      'release\tedition=Aerospike Ce Edition;version=8.1.2.0\n',
    )
    await connected!.close()
    expect(await (await serverOf('7.2')).infoAny('build')).to.equal('build\t7.2.0.0\n')
  })

  for (const [what, { since, before, refused, ask }] of Object.entries(NOVELTIES)) {
    it(`knows ${what} from ${since} on, and answers ${refused} before`, async () => {
      expect(await refusal(ask(await serverOf(since)))).to.equal(undefined)
      await connected!.close()
      expect(await refusal(ask(await serverOf(before)))).to.equal(refused)
    })
  }

  it('does not extend the life of a record by a read before 7.1', async () => {
    for (const [build, left] of [
      ['7.1', 190],
      ['7.0', 100],
    ] as const) {
      const client = await serverOf(build)
      await client.put(key, { n: 1 }, { ttl: 100 })
      await connected!.server.clock.advance(90)
      await client.get(key, { readTouchTtlPercent: 80 })
      // The client reckons with a clock that was not advanced.
      expect((await client.get(key)).ttl).to.be.within(left - 2, left)
      await connected!.close()
      connected = undefined
    }
  })

  it('writes at once what a transaction should hold back before 8.0, and the commit says that it was given up', async () => {
    const client = await serverOf('7.2', 'test:sc')
    const txn = new Aerospike.Transaction()
    await client.put(key, { n: 2 }, undefined, { txn })
    expect((await client.get(key)).bins.n).to.equal(2)
    expect(await client.commit(txn)).to.equal(Aerospike.Transaction.commitStatus.ROLL_FORWARD_ABANDONED)
    releaseTransaction(txn)
  })

  it('takes the older commands for indexes, and queries by them', async () => {
    const client = await serverOf('7.2')
    const options = { ns: 'test', set: 'demo', bin: 'l', index: 'on_l' }
    const job = await client.createIndex({ ...options, type: indexType.LIST, datatype: indexDataType.NUMERIC })
    await job.wait(5)
    const query = client.query('test', 'demo')
    query.where(filter.contains('l', 2, indexType.LIST))
    expect(await query.results()).to.have.length(1)
  })

  for (const build of ['', '8', '8.1.3', '9.0', '6.0.9', '5.7', '8.1.2.0.1', 'latest', 8 as unknown as string]) {
    it(`cannot be asked for as ${JSON.stringify(build)}`, async () => {
      const error = await startEmbedded({ build }).then(
        (server) => server.stop(),
        (thrown: SkeinError) => thrown,
      )
      expect(error).to.be.instanceOf(SkeinError)
      expect((error as SkeinError).code).to.equal('SKEIN_2320')
      expect((error as SkeinError).message).to.include('from "6.1" to "8.1.2"')
    })
  }
})

describe('A database on an older build', () => {
  @Entity({ set: 'note' })
  class Note {
    @KeyOf() id!: number
    @Bin() text!: string
  }

  it('works without transactions, and says so when they are required', async () => {
    const embedded = { build: '7.2' }
    const db = await open({ embedded, namespace: 'test', entities: [Note] })
    expect(db.capabilities).to.deep.include({ build: '7.2.0.0', edition: 'Aerospike Enterprise Edition' })
    expect(db.capabilities.namespaces.test).to.include({ strongConsistency: true, transactions: false })
    await db.session().save(Object.assign(new Note(), { id: 1, text: 'x' }))
    expect((await db.session().load(Note, 1)).text).to.equal('x')
    await db.close()
    const refused = await open({ embedded, namespace: 'test', entities: [Note], transactions: 'required' }).catch(
      (error: SkeinError) => error.code,
    )
    expect(refused).to.match(/^SKEIN_/)
  })

  it('reads edition and build from what a newer server calls its release', async () => {
    const db = await open({ embedded: true, namespace: 'test', entities: [Note] })
    expect(db.capabilities).to.deep.include({ build: '8.1.2.0', edition: 'Aerospike Enterprise Edition' })
    await db.close()
  })
})
