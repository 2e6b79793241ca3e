import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'

// SKEIN_TRANSACTIONS=20000 runs the full size.
const TOTAL = Number(process.env.SKEIN_TRANSACTIONS ?? 500)
const AT_ONCE = 500

describe('many transactions at once, in a process of their own', function () {
  this.timeout(600_000)
  it(`${AT_ONCE} at once and ${TOTAL} in all: no crash, nothing left behind, memory flat`, async function () {
    const program = new URL('./programs/many-transactions.js', import.meta.url)
    const server = await sharedServer()
    const args = [server.hosts, needMode(this, server, 'sc'), String(TOTAL), String(AT_ONCE)]
    // With many arenas, malloc keeps much of what was freed.
    const env = { ...process.env, MALLOC_ARENA_MAX: '1' }
    const child = fork(program, args, { stdio: 'pipe', execArgv: ['--expose-gc'], env })
    let output = ''
    child.stdout?.on('data', (data) => (output += String(data)))
    child.stderr?.on('data', (data) => (output += String(data)))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect({ code, signal, output: code === 0 ? '' : output }).to.deep.equal({ code: 0, signal: null, output: '' })
    const { memory, pooled } = JSON.parse(output) as { memory: Memory[]; pooled: number }
    expect(pooled).to.equal(0)
    // Kibibytes: a leak of a whole session or transaction for each of them would be far more.
    const grown = (name: keyof Memory): number => memory.at(-1)![name] - memory[0][name]
    expect(grown('heap')).to.be.lessThan(4 * 1024)
    expect(grown('rss')).to.be.lessThan(64 * 1024)
    const shown = (name: keyof Memory): string => memory.map((one) => one[name]).join(', ')
    this.test!.title += ` (heap ${shown('heap')} KiB, resident ${shown('rss')} KiB)`
  })
})

interface Memory {
  readonly heap: number
  readonly rss: number
}
