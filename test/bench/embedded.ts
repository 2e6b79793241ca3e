import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import Aerospike, { type Client, type Key } from 'aerospike'
import type { BenchResult, BenchSuite } from './bench.js'

const GETS = 20_000
const BATCHES = 200
const ROWS = 100
const QUERIED = 100_000
const CALLERS = 16
const ROUNDS = 6
const MICROS_PER_TICK = 10_000

interface Served {
  readonly process: ChildProcess
  readonly hosts: string
}

/** Starts a process of its own, so that its CPU can be told from the client's. */
async function serve(): Promise<Served> {
  const cli = new URL('../../../dist/cli/main.js', import.meta.url).pathname
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(child.stdout)) {
    const hosts = /listening on (\S+)/.exec(line)?.[1]
    if (hosts !== undefined) return { process: child, hosts }
  }
  throw new Error('skein serve ended without listening')
}

/** Microseconds of CPU a process has used, user and system. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK
}

function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/** Microseconds of the server's CPU per unit of work; the cheapest round counts. */
async function cost(pid: number, units: number, work: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const before = cpuOf(pid)
    await work()
    best = Math.min(best, (cpuOf(pid) - before) / units)
  }
  return best
}

/** Calls `work` for every index, some calls at a time. */
async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  const lanes = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let i = caller; i < count; i += CALLERS) await work(i)
  })
  await Promise.all(lanes)
}

async function measureRecords(client: Client, pid: number): Promise<readonly BenchResult[]> {
  const bins = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`bin${i}`, i % 2 ? i : `value ${i}`]))
  const keys = Array.from({ length: 1000 }, (_, i) => new Aerospike.Key('test', 'bench', i))
  for (const key of keys) await client.put(key, bins)
  const one = (i: number): Key => keys[i % keys.length]
  const rows = keys.slice(0, ROWS).map((key) => ({ key, readAllBins: true }))
  const get = await cost(pid, GETS, () => each(GETS, (i) => client.get(one(i))))
  const put = await cost(pid, GETS, () => each(GETS, (i) => client.put(one(i), bins)))
  const batched = await cost(pid, BATCHES * ROWS, async () => {
    for (let i = 0; i < BATCHES; i++) await client.batchRead(rows)
  })
  return [
    result('embedded: single get', get, 25),
    result('embedded: single put', put),
    result('embedded: record in a batch of 100', batched, 6),
  ]
}

/** A query by index of many records: what a row costs, and what the server holds in memory meanwhile. */
async function measureQuery(client: Client, pid: number): Promise<readonly BenchResult[]> {
  for (let from = 0; from < QUERIED; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      type: Aerospike.batchType.BATCH_WRITE,
      key: new Aerospike.Key('test', 'queried', from + i),
      ops: [Aerospike.operations.write('n', from + i), Aerospike.operations.write('text', 'x'.repeat(200))],
    }))
    await client.batchWrite(rows, { totalTimeout: 30_000 })
  }
  const job = await client.createIntegerIndex({ ns: 'test', set: 'queried', bin: 'n', index: 'bench_n' })
  await job.wait(20)
  const before = megabytesOf(pid)
  let most = before
  let found = 0
  const query = async (): Promise<void> => {
    const asked = client.query('test', 'queried')
    asked.where(Aerospike.filter.range('n', 0, QUERIED))
    const stream = asked.foreach({ totalTimeout: 0 })
    stream.on('data', () => {
      if (++found % 1000 === 0) most = Math.max(most, megabytesOf(pid))
    })
    await once(stream, 'end')
  }
  const row = await cost(pid, QUERIED, query, 3)
  if (found !== 3 * QUERIED) throw new Error(`The query found ${found} records.`)
  const memory = { name: 'embedded: memory during a query of 100,000', ratio: most - before, budget: { atMost: 64 } }
  return [result('embedded: row of an index query', row), { ...memory, of: 'MB more than before it' }]
}

function result(name: string, micros: number, atMost?: number): BenchResult {
  const budget = atMost === undefined ? {} : { budget: { atMost } }
  return { name, ratio: micros, ...budget, of: 'µs of CPU of the server process' }
}

const suite: BenchSuite = {
  name: 'The embedded server: CPU of its process per record',
  async run() {
    if (process.platform !== 'linux') return []
    const served = await serve()
    const client = await Aerospike.connect({ hosts: served.hosts, log: { level: Aerospike.log.OFF } })
    try {
      const pid = served.process.pid!
      return [...(await measureRecords(client, pid)), ...(await measureQuery(client, pid))]
    } finally {
      client.close()
      served.process.kill()
      await once(served.process, 'exit')
    }
  },
}
export default suite
