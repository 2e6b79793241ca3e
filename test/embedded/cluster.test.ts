import Aerospike, { type Client, type Key } from 'aerospike'
import { expect } from 'chai'
import { SkeinError } from 'skein'
import { startEmbedded, type EmbeddedNode, type EmbeddedServer } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from './official-client.js'

// Fewer than the connections that the client opens to one node.
const keysOf = (namespace: string, count = 90): Key[] =>
  Array.from({ length: count }, (_, i) => new Aerospike.Key(namespace, 'demo', i))

/** Resolves when the client knows that many nodes. */
async function untilNodes(client: Client, count: number): Promise<void> {
  while (client.getNodes().length !== count) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Resolves when every key is answered by the node that the cluster says. */
async function untilReadable(client: Client, keys: readonly Key[]): Promise<void> {
  for (;;) {
    const codes = await Promise.all(keys.map((key) => refusal(client.exists(key))))
    if (codes.every((code) => code === undefined)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Nodes that the commands of a piece of work went to. */
async function nodesDuring(server: EmbeddedServer, work: () => Promise<unknown>): Promise<number[]> {
  const { log } = await server.commands.during(work)
  return log.map(({ node }) => node)
}

async function putAll(client: Client, keys: readonly Key[], value: number): Promise<void> {
  await Promise.all(keys.map((key) => client.put(key, { a: value })))
}

const read = (client: Client, keys: readonly Key[]) => client.batchRead(keys.map((key) => ({ key, readAllBins: true })))

/** A key whose record the node is the master of. */
async function keyOn(server: EmbeddedServer, client: Client, node: EmbeddedNode, keys: readonly Key[]): Promise<Key> {
  for (const key of keys) {
    const [index] = await nodesDuring(server, () => client.exists(key))
    if (server.nodes[index] === node) return key
  }
  throw new Error('no key on that node')
}

describe('embedded server: a cluster of several nodes', () => {
  let connected: Connected
  let server: EmbeddedServer
  let client: Client

  beforeEach(async () => {
    connected = await connectOfficialClient(
      { nodes: 3, namespaces: ['test:sc', 'cache:ap'] },
      // The client gives up on a frozen node after this time.
      { connTimeoutMs: 1000, tenderInterval: 250 },
    )
    ;({ server, client } = connected)
  })
  afterEach(() => connected.close())

  it('is discovered by the client from one of its addresses', async () => {
    const [first] = server.nodes
    const other = await Aerospike.connect({
      hosts: `${first.host}:${first.port}`,
      log: { level: Aerospike.log.OFF },
    })
    const found = other.getNodes().map(({ name }) => name)
    other.close()
    expect(found.sort()).to.deep.equal(server.nodes.map(({ id }) => id).sort())
  })

  for (const namespace of ['test', 'cache']) {
    it(`shares the records of '${namespace}' among the nodes, and batches and queries find all of them`, async () => {
      const keys = keysOf(namespace)
      const nodes = await nodesDuring(server, () => putAll(client, keys, 1))
      expect(new Set(nodes)).to.deep.equal(new Set([0, 1, 2]))
      let rows: { readonly status: unknown }[] = []
      const asked = await nodesDuring(server, async () => (rows = await read(client, keys)))
      expect(asked.sort()).to.deep.equal([0, 1, 2])
      expect(rows.every(({ status }) => status === 0)).to.equal(true)
      expect(await client.query(namespace, 'demo').results()).to.have.length(keys.length)
    })
  }

  it('runs a background query once for each record', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    const query = client.query('cache', 'demo')
    const job = await query.operate([Aerospike.operations.incr('a', 1)])
    await job.wait(20)
    const rows = await read(client, keys)
    expect(new Set(rows.map(({ record }) => record.bins.a))).to.deep.equal(new Set([2]))
  })

  it('forgets the background queries of a node that is killed, and ends them', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    const [node] = server.nodes
    await node.slow(50)
    const job = await client.query('cache', 'demo').operate([Aerospike.operations.incr('a', 1)])
    const show = (): Promise<string> => {
      const { jobID } = job as unknown as { jobID: number }
      const asked = client.getNodes().find(({ name }) => name === node.id)!
      return client.infoNode(`query-show:id=${jobID}`, asked).catch(({ message }: Error) => message)
    }
    expect(await show()).to.include('status=active')
    await node.restart()
    await untilReadable(client, keys)
    const incremented = async () => (await read(client, keys)).filter(({ record }) => record.bins.a === 2).length
    const before = await incremented()
    expect(before).to.be.below(keys.length)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(await incremented()).to.equal(before)
    await untilNodes(client, 3)
    expect(await show()).not.to.include('status=')
  })

  it('commits a transaction over records of all nodes', async () => {
    const keys = keysOf('test', 30)
    const transaction = new Aerospike.Transaction()
    for (const key of keys) {
      await client.put(key, { a: 1 }, undefined, { txn: transaction, totalTimeout: 30_000 } as never)
    }
    expect((await read(client, keys)).every(({ status }) => status === 2)).to.equal(true)
    await client.commit(transaction)
    releaseTransaction(transaction)
    expect((await read(client, keys)).every(({ status }) => status === 0)).to.equal(true)
  })

  it('goes on without a node that was killed, and takes it back', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    await server.nodes[1].kill()
    await untilNodes(client, 2)
    await untilReadable(client, keys)
    const nodes = await nodesDuring(server, () => putAll(client, keys, 2))
    expect(new Set(nodes)).to.deep.equal(new Set([0, 2]))
    await server.nodes[1].restart()
    await untilNodes(client, 3)
    const rows = await read(client, keys)
    expect(new Set(rows.map(({ record }) => record.bins.a))).to.deep.equal(new Set([2]))
  })

  it('goes on without a frozen node, and never runs what that one had received', async () => {
    const keys = keysOf('test')
    await putAll(client, keys, 1)
    const key = await keyOn(server, client, server.nodes[2], keys)
    await server.nodes[2].freeze()
    const lost = client.put(key, { a: 2 }, undefined, { totalTimeout: 300 } as never)
    const error = await lost.catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 9, inDoubt: true })
    await untilNodes(client, 2)
    await untilReadable(client, keys)
    await server.nodes[2].restart()
    await untilNodes(client, 3)
    await untilReadable(client, keys)
    expect((await client.get(key)).bins).to.deep.equal({ a: 1 })
  })

  it('holds back the commands of a slow node, and only those', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    const slow = await keyOn(server, client, server.nodes[0], keys)
    const fast = await keyOn(server, client, server.nodes[1], keys)
    await server.nodes[0].slow(60_000)
    let isDone = false
    const waiting = client.put(slow, { a: 2 }).then(() => (isDone = true))
    await client.put(fast, { a: 2 })
    expect(isDone).to.equal(false)
    await server.nodes[0].slow(0)
    await waiting
    expect((await client.get(slow)).bins).to.deep.equal({ a: 2 })
  })

  it('answers 11 for partitions on the move, until they have arrived', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    const key = await keyOn(server, client, server.nodes[0], keys)
    const other = await keyOn(server, client, server.nodes[1], keys)
    const arrived = await server.movePartitions({ node: server.nodes[0] })
    expect(await refusal(client.put(key, { a: 2 }))).to.equal(11)
    expect(await refusal(client.put(other, { a: 2 }))).to.equal(undefined)
    const statuses = new Set((await read(client, keys)).map(({ status }) => status))
    expect(statuses).to.deep.equal(new Set([0, 11]))
    expect(await refusal(client.query('cache', 'demo').results())).to.equal(11)
    await arrived()
    expect(await refusal(client.put(key, { a: 2 }))).to.equal(undefined)
    expect(await client.query('cache', 'demo').results()).to.have.length(keys.length)
  })

  it('shares the partitions anew when a node joins', async () => {
    const keys = keysOf('cache')
    await putAll(client, keys, 1)
    const joined = await server.addNode()
    expect(server.nodes.indexOf(joined)).to.equal(3)
    await untilNodes(client, 4)
    let nodes: number[] = []
    // The client learns of the new partition map a little later than of the node.
    while (!nodes.includes(3)) nodes = await nodesDuring(server, () => putAll(client, keys, 2))
    expect(await client.query('cache', 'demo').results()).to.have.length(keys.length)
  })

  const calls: { [what: string]: (given: EmbeddedServer, foreign: EmbeddedNode) => Promise<unknown> } = {
    'a node that is slow by less than nothing': ({ nodes }) => nodes[0].slow(-1),
    'a node that is slow for ever': ({ nodes }) => nodes[0].slow(Infinity),
    'partitions of an unknown option': (given) => given.movePartitions({ nod: 1 } as never),
    'partitions of no options': (given) => given.movePartitions(null as never),
    'partitions of an unknown namespace': (given) => given.movePartitions({ namespace: 'cash' }),
    'partitions of a node of another server': (given, node) => given.movePartitions({ node }),
    'a clock that goes back': ({ clock }) => clock.advance(-1),
    'a fault with an unknown option': ({ faults }) => faults.add({ answer: 14, time: 3 } as never),
    'a fault without an effect': ({ faults }) => faults.add({ kind: 'read' }),
    'a fault of an unknown kind': ({ faults }) => faults.add({ kind: 'red' as never, drop: true }),
    'a fault on a key without its set': ({ faults }) => faults.add({ key: 1, drop: true }),
    'a fault that lasts a text': ({ faults }) => faults.add({ delay: '3s' as never }),
  }
  for (const [what, call] of Object.entries(calls)) {
    it(`refuses ${what}`, async () => {
      const other = await startEmbedded()
      const error = await call(server, other.nodes[0]).catch((thrown: unknown) => thrown)
      await other.stop()
      expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_2320' })
    })
  }
})

describe('embedded server: what it is started with', () => {
  const wrong: { readonly [what: string]: object | null } = {
    'no options but null': null,
    'an unknown option': { node: 3 },
    'null nodes': { nodes: null },
    'a null port': { port: null },
    'null namespaces': { namespaces: null },
    'an unknown limit': { limits: { maxRecords: 3 } },
    'a limit that is a text': { limits: { maxRecordSize: '1m' } },
    'an unknown option of a namespace': { namespaces: [{ name: 'test', tll: 3 }] },
    'a namespace without a name': { namespaces: [{ mode: 'ap' }] },
    'a time to live below zero': { namespaces: [{ name: 'test', defaultTtl: -1 }] },
    ...Object.fromEntries([0, 17, 1.5, '3'].map((nodes) => [`${JSON.stringify(nodes)} nodes`, { nodes }])),
  }
  for (const [what, options] of Object.entries(wrong)) {
    it(`refuses ${what}`, async () => {
      const error = await startEmbedded(options as never).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_2320' })
    })
  }

  it('refuses calls after it was stopped', async () => {
    const server = await startEmbedded()
    const fault = await server.faults.add({ answer: 14 })
    const [node] = server.nodes
    await server.stop()
    const calls = [
      () => node.kill(),
      () => node.slow(3),
      () => server.addNode(),
      () => server.movePartitions(),
      () => fault.hits(),
      () => server.commands.summary(),
      () => server.clock.advance(1),
    ]
    for (const call of calls) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_4110' })
    }
  })
})
