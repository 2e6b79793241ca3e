import Aerospike from 'aerospike'
import { read, write } from '#src/plan/command.js'
import { writeBin } from '#src/plan/operations.js'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import type { BenchResult, BenchSuite } from './bench.js'
import { against, againstCrowd, HUNDREDS, ONE } from './compare.js'
import { Gathered } from './gathered.js'
import { startBenchServer } from './server.js'

const RECORDS = 1000

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

async function measureAll(driver: Driver, at: (i: number) => RecordKey): Promise<BenchResult[]> {
  const { client } = driver
  const keyOf = ({ namespace, set, key }: RecordKey): Aerospike.Key => new Aerospike.Key(namespace, set, key as number)
  const key = (i: number): RecordKey => at(i % RECORDS)
  const hundred = (i: number): RecordKey[] => Array.from({ length: 100 }, (_, k) => key(i * 7 + k))
  await driver.run(
    Array.from({ length: RECORDS }, (_, i) =>
      write(
        'Listing',
        at(i),
        Object.entries(bins(i)).map(([bin, value]) => writeBin(bin, value)),
        { exists: 'upsert' },
      ),
    ),
  )

  const exists = Aerospike.policy.exists.UPDATE
  const policy = new Aerospike.OperatePolicy({ socketTimeout: 0, totalTimeout: 3000, maxRetries: 0, exists })
  const keepTtl = { ttl: Aerospike.ttl.DONT_UPDATE }
  const gathered = new Gathered(driver, (id) => keyOf(key(id)))
  const readGathered = { call: (i: number) => gathered.read(i) }
  const saveGathered = { call: (i: number) => gathered.savePrice({ id: i, price: i }) }
  const load = { call: (i: number) => driver.readOne(read('Listing', key(i))) }
  const get = { call: (i: number) => client.get(keyOf(key(i))) }
  const save = {
    call: (i: number) => driver.runOne(write('Listing', key(i), [writeBin('price', i)], { exists: 'mustExist' })),
  }
  const operate = {
    call: (i: number) => client.operate(keyOf(key(i)), [Aerospike.operations.write('price', i)], keepTtl, policy),
  }
  const loadHundred = { call: (i: number) => driver.read(hundred(i).map((one) => read('Listing', one))) }
  const batchRead = {
    call: (i: number) => client.batchRead(hundred(i).map((one) => ({ key: keyOf(one), readAllBins: true }))),
  }
  return [
    ...(await againstCrowd(
      'driver: 64 callers read',
      { ours: load, theirs: get, gathered: readGathered },
      0.95,
      'get',
    )),
    ...(await againstCrowd(
      'driver: 64 callers write',
      { ours: save, theirs: operate, gathered: saveGathered },
      0.92,
      'operate',
    )),
    await against('driver: one caller reads', load, get, ONE, 0.9, 'get'),
    await against('driver: one caller writes', save, operate, ONE, 0.9, 'operate'),
    await against('driver: 100 records at once', loadHundred, batchRead, HUNDREDS, 0.9, 'batchRead'),
  ]
}

const suite: BenchSuite = {
  name: 'The driver against the official client',
  async run() {
    const server = await startBenchServer()
    const driver = await connect({ hosts: server.hosts, namespaces: server.namespaces })
    const set = `bench-${process.pid}`
    try {
      return await measureAll(driver, (i) => recordKey(server.namespaces[0], set, i))
    } finally {
      await driver.client.truncate(server.namespaces[0], set, 0)
      await driver.close()
      await server.stop()
    }
  },
}
export default suite
