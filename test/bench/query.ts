import Aerospike from 'aerospike'
import { Bin, Index, Key, Record, open, type Database } from 'skein'
import type { BenchResult, BenchSuite } from './bench.js'
import { compare, collectGarbage, type Compared } from './compare.js'
import { startBenchServer } from './server.js'

const RECORDS = 100_000
const ROUNDS = 4

@Record({ set: 'benchquery' })
class Item {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) half!: number
  @Bin() city!: string
  @Bin({ type: 'int' }) price!: number
  @Bin() title!: string
}

/** The client's own stream with the same filter and bins, made into the same objects. */
function byHand(db: Database, namespace: string, filters: readonly object[]): Promise<number> {
  const query = db.client.query(namespace, 'benchquery', { filters: filters as never })
  const stream = query.foreach()
  return new Promise((resolve, reject) => {
    let sum = 0
    stream.on('data', (record: { bins: Partial<Item> }) => (sum += Object.assign(new Item(), record.bins).price))
    stream.on('error', reject)
    stream.on('end', () => resolve(sum))
  })
}

async function ours(items: AsyncIterable<Item>): Promise<number> {
  let sum = 0
  for await (const { price } of items) sum += price
  return sum
}

async function fill(db: Database): Promise<void> {
  for (let first = 0; first < RECORDS; first += 2000) {
    await db.withSession(async (session) => {
      for (let id = first; id < first + 2000; id++)
        session.create(Item, { id, half: id % 2, city: `city ${id % 100}`, price: id % 997, title: `a title of ${id}` })
    })
  }
}

/** The share of the main thread, which does not depend on what else the machine does. */
const mainThread = ({ cpu }: Compared): string =>
  cpu === undefined ? '' : `; main thread ${(cpu.ours / cpu.theirs).toFixed(2)}`

async function memoryOf(work: () => Promise<unknown>): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed - before)), 5)
  await work()
  clearInterval(timer)
  return most / 1024 / 1024
}

const suite: BenchSuite = {
  name: `queries of ${RECORDS.toLocaleString('en')} records`,
  async run(): Promise<BenchResult[]> {
    const server = await startBenchServer()
    const namespace = server.namespaces.at(-1)!
    const db = await open({
      hosts: server.hosts,
      namespace,
      entities: [Item],
      policies: { query: { socketTimeout: 60_000 } },
    })
    try {
      await db.truncate(Item)
      await db.indexes.sync()
      await fill(db)
      const options = { calls: 1, rounds: ROUNDS }
      const all = await compare({ call: () => ours(db.scan(Item)) }, { call: () => byHand(db, namespace, []) }, options)
      const filters = [Aerospike.filter.range('half', 1, 1)]
      const half = await compare(
        { call: () => ours(db.query(Item).where({ half: 1 })) },
        { call: () => byHand(db, namespace, filters) },
        options,
      )
      const memory = await memoryOf(() => ours(db.scan(Item)))
      return [
        {
          name: 'query: stream all',
          ratio: 1 / all.ratio,
          budget: { atMost: 1.15 },
          of: `time against the client's own stream${mainThread(all)}`,
        },
        {
          name: 'query: stream half by index',
          ratio: 1 / half.ratio,
          budget: { atMost: 1.15 },
          of: `time against the client's own stream${mainThread(half)}`,
        },
        {
          name: 'query: memory of a stream',
          ratio: memory,
          budget: { atMost: 100 },
          of: 'MB of heap at most, the collector left alone',
        },
      ]
    } finally {
      await db.close()
      await server.stop()
    }
  },
}
export default suite
