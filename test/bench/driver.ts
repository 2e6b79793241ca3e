import Aerospike from 'aerospike'
import { read, write } from '#src/plan/command.js'
import { writeBin } from '#src/plan/operations.js'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import { startTestServer } from '../server.js'
import type { BenchResult, BenchSuite } from './bench.js'

const RECORDS = 1000
const CALLERS = 64
const ROUNDS = 30

/** Ten flat bins, as the class of the budgets. */
const bins = (i: number): Record<string, string | number | boolean> => ({
  id: i,
  title: `House ${i}`,
  city: `City ${i % 50}`,
  street: `Street ${i % 300}`,
  zip: String(10_000 + i),
  price: 100_000 + i,
  rooms: i % 9,
  area: i + 0.5,
  active: i % 2 === 0,
  listedAt: 1_700_000_000_000 + i,
})

/** Calls per second when so many callers each wait for their answer before they ask again. */
async function throughput(callers: number, calls: number, call: (i: number) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < calls) await call(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return calls / (performance.now() - began)
}

/** The best of several rounds of each, taking turns, so that a busy machine disturbs both alike. */
async function compare(
  callers: number,
  calls: number,
  ours: (i: number) => Promise<unknown>,
  theirs: (i: number) => Promise<unknown>,
): Promise<number> {
  const best = { ours: 0, theirs: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    best.theirs = Math.max(best.theirs, await throughput(callers, calls, theirs))
    best.ours = Math.max(best.ours, await throughput(callers, calls, ours))
  }
  return best.ours / best.theirs
}

async function measureAll(driver: Driver, at: (i: number) => RecordKey): Promise<BenchResult[]> {
  const { client } = driver
  const keys = Array.from({ length: RECORDS }, (_, i) => at(i))
  const rawKeys = keys.map(({ namespace, set, key }) => new Aerospike.Key(namespace, set, key as number))
  const record = (i: number): number => i % RECORDS
  await driver.run(
    keys.map((key, i) =>
      write(
        'Listing',
        key,
        Object.entries(bins(i)).map(([bin, value]) => writeBin(bin, value)),
        { exists: 'upsert' },
      ),
    ),
  )

  const policy = new Aerospike.OperatePolicy({ exists: Aerospike.policy.exists.UPDATE })
  const load = (i: number): Promise<unknown> => driver.readOne(read('Listing', keys[record(i)]))
  const save = (i: number): Promise<unknown> =>
    driver.runOne(write('Listing', keys[record(i)], [writeBin('price', i)], { exists: 'mustExist' }))
  const get = (i: number): Promise<unknown> => client.get(rawKeys[record(i)])
  const operate = (i: number): Promise<unknown> =>
    client.operate(
      rawKeys[record(i)],
      [Aerospike.operations.write('price', i)],
      { ttl: Aerospike.ttl.DONT_UPDATE },
      policy,
    )
  const hundred = (i: number): Promise<unknown> =>
    driver.read(Array.from({ length: 100 }, (_, k) => read('Listing', keys[record(i + k)])))
  const batchRead = (i: number): Promise<unknown> =>
    client.batchRead(
      Array.from({ length: 100 }, (_, k) => ({
        type: Aerospike.batchType.BATCH_READ,
        key: rawKeys[record(i + k)],
        readAllBins: true,
      })),
    )

  return [
    {
      name: 'driver: 64 callers read',
      ratio: await compare(CALLERS, 2000, load, get),
      budget: { atLeast: 2 },
      of: 'throughput against get',
    },
    {
      name: 'driver: 64 callers write',
      ratio: await compare(CALLERS, 2000, save, operate),
      budget: { atLeast: 2.5 },
      of: 'throughput against operate',
    },
    {
      name: 'driver: one caller reads',
      ratio: await compare(1, 400, load, get),
      budget: { atLeast: 0.9 },
      of: 'throughput against get',
    },
    {
      name: 'driver: one caller writes',
      ratio: await compare(1, 400, save, operate),
      budget: { atLeast: 0.9 },
      of: 'throughput against operate',
    },
    {
      name: 'driver: 100 records at once',
      ratio: await compare(1, 20, hundred, batchRead),
      budget: { atLeast: 0.9 },
      of: 'throughput against batchRead',
    },
  ]
}

const suite: BenchSuite = {
  name: 'The driver against the official client',
  async run() {
    const server = await startTestServer()
    const driver = await connect({ hosts: server.hosts, namespaces: server.namespaces })
    const set = `bench-${process.pid}`
    try {
      return await measureAll(driver, (i) => recordKey(server.namespaces[0], set, i))
    } finally {
      await driver.close()
      await server.stop()
    }
  },
}
export default suite
