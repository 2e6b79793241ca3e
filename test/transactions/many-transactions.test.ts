import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'

// SKEIN_TRANSACTIONS=20000 runs the full size.
const TOTAL = Number(process.env.SKEIN_TRANSACTIONS ?? 2000)
const AT_ONCE = 500

describe('many transactions at once, in a process of their own', function () {
  this.timeout(600_000)
  it(`${AT_ONCE} at once and ${TOTAL} in all: no crash, nothing left behind, memory flat`, async function () {
    const program = new URL('./programs/many-transactions.js', import.meta.url)
    const server = await sharedServer()
    const args = [server.hosts, needMode(this, server, 'sc'), String(TOTAL), String(AT_ONCE)]
    const child = fork(program, args, { stdio: 'pipe', execArgv: ['--expose-gc'] })
    let output = ''
    child.stdout?.on('data', (data) => (output += String(data)))
    child.stderr?.on('data', (data) => (output += String(data)))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect({ code, signal, output: code === 0 ? '' : output }).to.deep.equal({ code: 0, signal: null, output: '' })
    const result = JSON.parse(output) as { before: Memory; after: Memory; pooled: number }
    expect(result.pooled).to.equal(0)
    // Kibibytes: a leak of a whole session or transaction for each of them would be far more.
    expect(result.after.heap - result.before.heap).to.be.lessThan(8 * 1024)
    expect(result.after.rss - result.before.rss).to.be.lessThan(96 * 1024)
    const grown = (name: keyof Memory): string => `${result.after[name] - result.before[name]} KiB`
    this.test!.title += ` (heap ${grown('heap')}, resident ${grown('rss')})`
  })
})

interface Memory {
  readonly heap: number
  readonly rss: number
}
