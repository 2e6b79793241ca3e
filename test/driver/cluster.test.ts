import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { CommandEvent } from 'skein'
import { startEmbedded, type EmbeddedNode, type EmbeddedServer } from 'skein/embedded'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import { listIndexes } from '#src/driver/list-indexes.js'
import { truncateSets } from '#src/driver/truncate.js'
import type { DriverOptions } from '#src/driver/options.js'
import { read, write, type WriteCommand } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'

const NAMESPACES = ['test', 'cache']

const save = (key: RecordKey, value: number): WriteCommand =>
  write('Thing', key, [op.writeBin('x', value)], { exists: 'upsert' })

describe('the driver on a cluster of three nodes', () => {
  let server: EmbeddedServer
  let driver: Driver
  const keys = Array.from({ length: 300 }, (_, i) => recordKey('cache', 'thing', i))

  const connectDriver = (options: Partial<DriverOptions> = {}): Promise<Driver> =>
    connect({ hosts: server.hosts, namespaces: NAMESPACES, connTimeoutMs: 1000, tenderInterval: 250, ...options })

  beforeEach(async () => {
    server = await startEmbedded({ nodes: 3, namespaces: ['test:sc', 'cache:ap'] })
    driver = await connectDriver()
    await driver.run(keys.map((key) => save(key, 0)))
  })
  afterEach(async () => {
    await driver.close()
    await server.stop()
  })

  /** The keys by the node that answers them. */
  async function byNode(): Promise<Map<EmbeddedNode, RecordKey[]>> {
    const found = new Map<EmbeddedNode, RecordKey[]>(server.nodes.map((node) => [node, []]))
    for (const key of keys.slice(0, 90)) {
      const { log } = await server.commands.during(() => driver.readOne(read('Thing', key)))
      found.get(server.nodes[log[0].node])!.push(key)
    }
    return found
  }

  it('splits a batch by node, and counts it as one round trip', async () => {
    const events: CommandEvent[] = []
    const listen = (event: unknown): void => void events.push(event as CommandEvent)
    subscribe('skein:command', listen)
    const seen = await server.commands.during(() => driver.read(keys.slice(0, 150).map((key) => read('Thing', key))))
    unsubscribe('skein:command', listen)
    expect(seen.log.map(({ node, kind }) => `${kind} ${node}`).sort()).to.deep.equal(['batch 0', 'batch 1', 'batch 2'])
    expect(new Set(events.map(({ roundTrip }) => roundTrip)).size).to.equal(1)
    expect(new Set(events.map(({ rows }) => rows))).to.deep.equal(new Set(seen.log.map(({ rows }) => rows)))
  })

  it('lets a slow node hold up only its own keys', async () => {
    const nodes = await byNode()
    const [slow, ...others] = server.nodes
    // Nothing that goes to this node is answered before it is told so.
    await slow.slow(60_000)
    const waiting = nodes
      .get(slow)!
      .flatMap((key) => [
        driver.runOne(save(key, 1)),
        driver.readOne(read('Thing', key)),
        driver.runOne(write('Thing', key, [op.addToBin('n', 1)], { exists: 'upsert' })),
      ])
    const healthy = others.flatMap((node) => nodes.get(node)!)
    for (let round = 1; round <= 3; round++) {
      await driver.run(healthy.map((key) => save(key, round)))
      await Promise.all(
        healthy.map((key) => driver.runOne(write('Thing', key, [op.addToBin('n', 1)], { exists: 'mustExist' }))),
      )
      const found = await Promise.all(healthy.map((key) => driver.readOne(read('Thing', key))))
      expect(found.every((one) => one!.bins.x === round && one!.bins.n === round)).to.equal(true)
    }
    await slow.slow(0)
    await Promise.all(waiting)
  })

  for (const fall of ['kill', 'freeze'] as const) {
    it(`answers every call while a node does ${fall}, and after it has come back`, async () => {
      let round = 0
      const work = async (): Promise<void> => {
        round++
        const outcomes = await driver.run(keys.map((key) => save(key, round)))
        expect(new Set(outcomes.map(({ state }) => state))).to.deep.equal(new Set(['written']))
        const found = await driver.read(keys.map((key) => read('Thing', key)))
        expect(found.every((one) => one?.bins.x === round)).to.equal(true)
      }
      await work()
      await server.nodes[1][fall]()
      await work()
      while (driver.client.getNodes().length > 2) await work()
      await work()
      await server.nodes[1].restart()
      while (driver.client.getNodes().length < 3) await work()
      await work()
    })
  }

  it('reads the rows of a batch alone when their node is gone, because then the client asks the replica', async () => {
    // The client does not notice before the end of the test.
    const patient = await connectDriver({ tenderInterval: 60_000, retry: { attempts: 2 } })
    await server.nodes[2].kill()
    const found = await patient.read(keys.slice(0, 120).map((key) => read('Thing', key)))
    const exist = await patient.read(keys.slice(0, 120).map((key) => read('Thing', key, 'none')))
    await patient.close()
    expect(found.every((one) => one?.bins.x === 0)).to.equal(true)
    expect(exist.every((one) => one !== null)).to.equal(true)
  })

  it('reads by operations with the time-outs and retries of a read', async () => {
    const impatient = await connectDriver({
      policies: {
        read: { socketTimeout: 200, totalTimeout: 20_000, maxRetries: 5 },
        operate: { totalTimeout: 60_000, maxRetries: 0 },
      },
    })
    await server.faults.add({ kind: 'read', set: 'thing', hang: true, times: 2 })
    const found = await impatient.readOne({ ...read('Thing', keys[0]), operations: [op.readBin('x')] })
    await impatient.close()
    expect(found?.bins).to.deep.equal({ x: 0 })
  })

  it('reads rows of a batch with the time-outs and retries of a read', async () => {
    const impatient = await connectDriver({
      policies: { read: { socketTimeout: 200, totalTimeout: 20_000, maxRetries: 5 } },
      retry: { attempts: 1 },
    })
    await server.faults.add({ kind: 'batch', hang: true, times: 9 })
    const found = await impatient.read(keys.slice(0, 120).map((key) => read('Thing', key)))
    await impatient.close()
    expect(found.every((one) => one?.bins.x === 0)).to.equal(true)
  })

  it('says that the connection is lost when there is no node left, and knows that nothing was sent', async () => {
    const brief = await connectDriver({ retry: { attempts: 2, backoff: 1 } })
    for (const node of server.nodes) await node.kill()
    while (brief.client.getNodes().length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const command = { kind: 'query', entity: 'Thing', namespace: 'cache', set: 'thing', bins: 'all' } as const
    const failures = await Promise.all(
      [
        brief.readOne(read('Thing', keys[0])),
        brief.read(keys.map((key) => read('Thing', key))),
        brief.query(command).next(),
        brief.querySome(command, 3),
        listIndexes(brief.client, 'cache'),
        truncateSets(brief.client, { name: 'Thing', namespace: 'cache' }, ['thing']),
      ].map((call) => call.catch((thrown: unknown) => thrown)),
    )
    for (const error of failures) expect(error).to.include({ code: 'SKEIN_4205' })
    const create = (i: number): WriteCommand =>
      write('Thing', recordKey('cache', 'made', i), [op.writeBin('x', 1)], { exists: 'mustNotExist' })
    for (const outcome of await brief.run(keys.map((_, i) => create(i)))) {
      expect(outcome).to.include({ state: 'notWritten' })
      expect(outcome.error).to.include({ code: 'SKEIN_4205' })
    }
    await brief.close()
    for (const node of server.nodes) await node.restart()
    // Another client that was there before finds the nodes again.
    expect((await driver.read(keys.map((key) => read('Thing', key)))).every((one) => one !== null)).to.equal(true)
  })

  it('tries again while a partition is unavailable, and says so when that lasts', async () => {
    const brief = await connectDriver({ retry: { attempts: 2, backoff: 1 } })
    const arrived = await server.movePartitions({ namespace: 'cache' })
    const reading = driver.read(keys.map((key) => read('Thing', key)))
    const writing = driver.run(keys.map((key) => save(key, 1)))
    const error = await brief.readOne(read('Thing', keys[0])).catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'SKEIN_4213' })
    const outcome = await brief.runOne(save(keys[0], 7))
    expect(outcome).to.include({ state: 'notWritten', reason: 'unavailable' })
    expect(outcome.error).to.include({ code: 'SKEIN_4213' })
    await arrived()
    await brief.close()
    expect((await reading).every((one) => one !== null)).to.equal(true)
    expect((await writing).every(({ state }) => state === 'written')).to.equal(true)
  })

  it('goes on with a query at the partitions that could not be read', async () => {
    const command = { kind: 'query', entity: 'Thing', namespace: 'cache', set: 'thing', bins: 'all' } as const
    const arrived = await server.movePartitions({ node: server.nodes[0] })
    let isStuck: () => void = () => undefined
    const stuck = new Promise<void>((resolve) => (isStuck = resolve))
    const codes: number[] = []
    const listen = (event: unknown): void => {
      codes.push((event as CommandEvent).code)
      if (codes.filter((code) => code === 11).length > 6) isStuck()
    }
    subscribe('skein:command', listen)
    const found: number[] = []
    const finding = (async () => {
      for await (const records of driver.query(command)) found.push(...records.map(({ bins }) => Number(bins.x)))
    })()
    await stuck
    await arrived()
    await finding
    unsubscribe('skein:command', listen)
    expect(found).to.have.length(keys.length)
  })

  it('sends alone what may not be repeated, while a node is unreliable', async () => {
    const create = (key: number): WriteCommand =>
      write('Thing', recordKey('cache', 'made', key), [op.writeBin('x', 1)], { exists: 'mustNotExist' })
    const batch = async (from: number): Promise<string[]> => {
      const commands = Array.from({ length: 60 }, (_, i) => create(from + i))
      const { log } = await server.commands.during(() => driver.run(commands))
      return [...new Set(log.map(({ kind }) => kind))].sort()
    }
    expect(await batch(0)).to.deep.equal(['batch'])
    await server.faults.add({ kind: 'read', set: 'thing', drop: true, times: 40 })
    await driver.read(keys.map((key) => read('Thing', key)))
    await server.faults.clear()
    expect(await batch(1000)).to.deep.equal(['write'])
  })

  it('rolls a transaction back that has lost a node, once others have taken over', async () => {
    const own = Array.from({ length: 60 }, (_, i) => recordKey('test', 'lost', i))
    const transaction = await driver.begin()
    await driver.run(
      own.slice(0, 30).map((key) => save(key, 1)),
      { transaction },
    )
    await server.nodes[1].kill()
    const outcomes = await driver.run(
      own.slice(30).map((key) => save(key, 1)),
      { transaction },
    )
    expect(new Set(outcomes.map(({ state }) => state))).to.include('notWritten')
    expect(await driver.abort(transaction)).to.equal(true)
    // Nothing holds the records any more.
    const again = await driver.run(own.map((key) => save(key, 2)))
    expect(again.every(({ state }) => state === 'written')).to.equal(true)
  })

  it('closes only when the client knows of a node that came or went, because it would call back into freed memory', async () => {
    for (const change of ['kill', 'restart'] as const) {
      const other = await connectDriver()
      let isKnown = false
      for (const event of ['nodeAdded', 'nodeRemoved'] as const) other.client.on(event, () => (isKnown = true))
      await server.nodes[1][change]()
      await other.close()
      expect(isKnown, change).to.equal(true)
    }
  })

  it('reads and writes in a transaction on all nodes', async () => {
    const own = Array.from({ length: 60 }, (_, i) => recordKey('test', 'thing', i))
    const transaction = await driver.begin()
    await driver.run(
      own.map((key) => save(key, 1)),
      { transaction },
    )
    const found = await driver.read(
      own.map((key) => read('Thing', key)),
      { transaction },
    )
    expect(found.every((one) => one?.bins.x === 1)).to.equal(true)
    expect(await driver.commit(transaction)).to.include({ state: 'committed' })
    expect((await driver.read(own.map((key) => read('Thing', key)))).every((one) => one?.bins.x === 1)).to.equal(true)
  })
})
