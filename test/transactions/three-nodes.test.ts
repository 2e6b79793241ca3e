import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { isNamedServer } from '../server.js'

/** A sample of the behaviour suites; `SKEIN_NODES=3 npm test` runs them all so. */
const SAMPLE = [
  'relations/strategies/key-lists',
  'relations/strategies/secondary-index',
  'query/query',
  'relations/cascade/sweep',
]

describe('behaviour suites on a cluster of three nodes', () => {
  it('pass as on one', async function () {
    if (isNamedServer) this.skip()
    const files = SAMPLE.map((name) => `.build/test/${name}.test.js`)
    const mocha = ['node_modules/mocha/bin/mocha.js', '--reporter', 'json', ...files]
    const env = { ...process.env, SKEIN_NODES: '3' }
    const run = promisify(execFile)(process.execPath, mocha, { env, maxBuffer: 1 << 26 })
    const { stdout } = await run.catch((failed: { stdout: string }) => failed)
    const { stats, failures } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      stats: { passes: number }
      failures: { fullTitle: string }[]
    }
    expect(failures.map(({ fullTitle }) => fullTitle)).to.deep.equal([])
    expect(stats.passes).to.be.greaterThan(100)
  })
})
