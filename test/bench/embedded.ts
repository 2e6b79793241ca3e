import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import Aerospike, { type Client } from 'aerospike'
import type { BenchResult, BenchSuite } from './bench.js'

const GETS = 20_000
const BATCHES = 200
const ROWS = 100
const CALLERS = 16
const ROUNDS = 4
const MICROS_PER_TICK = 10_000

interface Served {
  readonly process: ChildProcess
  readonly hosts: string
}

/** A process of its own, so that its CPU can be told from the client's. */
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

interface Cost {
  readonly server: number
  readonly client: number
}

/** CPU per unit of work on each side; the cheapest round counts. */
async function cost(pid: number, units: number, work: () => Promise<unknown>): Promise<Cost> {
  let best: Cost = { server: Infinity, client: Infinity }
  for (let round = 0; round < ROUNDS; round++) {
    const before = { server: cpuOf(pid), client: process.cpuUsage() }
    await work()
    const client = process.cpuUsage(before.client)
    const measured = { server: (cpuOf(pid) - before.server) / units, client: (client.user + client.system) / units }
    if (measured.server < best.server) best = measured
  }
  return best
}

async function measureWith(client: Client, pid: number): Promise<readonly BenchResult[]> {
  const bins = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`bin${i}`, i % 2 ? i : `value ${i}`]))
  const keys = Array.from({ length: 1000 }, (_, i) => new Aerospike.Key('test', 'bench', i))
  for (const key of keys) await client.put(key, bins)

  const single = await cost(pid, GETS, () =>
    Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        for (let i = caller; i < GETS; i += CALLERS) await client.get(keys[i % keys.length])
      }),
    ),
  )
  const rows = keys.slice(0, ROWS).map((key) => ({ key, readAllBins: true }))
  const batched = await cost(pid, BATCHES * ROWS, async () => {
    for (let i = 0; i < BATCHES; i++) await client.batchRead(rows)
  })
  return [result('embedded: single get', single, 1), result('embedded: record in a batch of 100', batched, 0.5)]
}

function result(name: string, { server, client }: Cost, atMost: number): BenchResult {
  return {
    name,
    ratio: server / client,
    budget: { atMost },
    of: `CPU of the server (${server.toFixed(1)} µs) against the client's own (${client.toFixed(1)} µs)`,
  }
}

const suite: BenchSuite = {
  name: 'embedded server: CPU of the server process per record of 10 bins',
  async run() {
    if (process.platform !== 'linux') return []
    const served = await serve()
    const client = await Aerospike.connect({ hosts: served.hosts, log: { level: Aerospike.log.OFF } })
    try {
      return await measureWith(client, served.process.pid!)
    } finally {
      client.close()
      served.process.kill()
      await once(served.process, 'exit')
    }
  },
}
export default suite
