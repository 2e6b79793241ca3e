import Aerospike from 'aerospike'
import { read, write } from '#src/plan/command.js'
import { writeBin } from '#src/plan/operations.js'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import { startEmbedded, type EmbeddedNode, type EmbeddedServer } from 'skein/embedded'
import type { BenchResult, BenchSuite } from './bench.js'

const RECORDS = 300
/** Calls begin at this pace, whether or not earlier ones are answered. */
const PAUSE = 4
const SECONDS = 2.5

type Call = (key: RecordKey, i: number) => Promise<unknown>

const raw = ({ namespace, set, key }: RecordKey): Aerospike.Key => new Aerospike.Key(namespace, set, key as number)

/** Milliseconds of the calls for keys of healthy nodes, while calls for all keys go on; both sides take turns, so that a busy machine disturbs both. */
async function latencies(
  keys: readonly RecordKey[],
  isHealthy: (key: RecordKey) => boolean,
  sides: readonly [Call, Call],
): Promise<[number[], number[]]> {
  const took: [number[], number[]] = [[], []]
  const calls: Promise<unknown>[] = []
  const end = performance.now() + SECONDS * 1000
  for (let i = 0; performance.now() < end; i++) {
    const side = i % 2
    const key = keys[(i >> 1) % keys.length]
    const began = performance.now()
    const note = (): void => void (isHealthy(key) && took[side].push(performance.now() - began))
    calls.push(sides[side](key, i >> 1).then(note, note))
    if (i % 6 === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
  await Promise.all(calls)
  for (const each of took) each.sort((a, b) => a - b)
  return took
}

const percentile = (sorted: readonly number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)]

/** The keys of each node, by what the server sees. */
async function healthyKeys(server: EmbeddedServer, driver: Driver, keys: readonly RecordKey[], bad: EmbeddedNode) {
  const healthy = new Set<RecordKey>()
  for (const key of keys) {
    const { log } = await server.commands.during(() => driver.client.exists(raw(key)))
    if (server.nodes[log[0].node] !== bad) healthy.add(key)
  }
  return (key: RecordKey): boolean => healthy.has(key)
}

async function compare(name: string, harm: (node: EmbeddedNode) => Promise<void>): Promise<BenchResult> {
  const server = await startEmbedded({ nodes: 3, namespaces: ['test:ap'] })
  const driver = await connect({ hosts: server.hosts, namespaces: ['test'] })
  const keys = Array.from({ length: RECORDS }, (_, i) => recordKey('test', 'bench', i))
  const save = (key: RecordKey, i: number) => write('Thing', key, [writeBin('x', i)], { exists: 'upsert' })
  await driver.run(keys.map(save))
  const bad = server.nodes[1]
  const isHealthy = await healthyKeys(server, driver, keys, bad)
  const ours: Call = (key, i) => (i % 2 ? driver.runOne(save(key, i)) : driver.readOne(read('Thing', key)))
  const theirs: Call = (key, i) => (i % 2 ? driver.client.put(raw(key), { x: i }) : driver.client.get(raw(key)))
  // Warms up both sides.
  await latencies(keys, isHealthy, [ours, theirs])
  await harm(bad)
  const [our, their] = await latencies(keys, isHealthy, [ours, theirs])
  await driver.close()
  await server.stop()
  const [mine, yours] = [percentile(our, 0.99), percentile(their, 0.99)]
  return {
    name: `cluster: healthy keys, a node ${name}`,
    ratio: mine / yours,
    budget: { atMost: 2 },
    of: `p99 against the raw client's: ${mine.toFixed(1)} ms against ${yours.toFixed(1)}; medians ${percentile(our, 0.5).toFixed(1)} and ${percentile(their, 0.5).toFixed(1)}`,
  }
}

const suite: BenchSuite = {
  name: 'Keys of healthy nodes while another is bad, calls at a fixed pace',
  async run() {
    return [
      await compare('slow', (node) => node.slow(500)),
      await compare('dead', (node) => node.kill()),
      await compare('frozen', (node) => node.freeze()),
    ]
  },
}
export default suite
