import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

describe('links by date', function () {
  this.timeout(300_000)

  // The classes are declared once in a process, so that another layout needs one of its own.
  it('are stored and shown as those in one record are, on whichever days they were made', () => {
    const file = fileURLToPath(new URL('graph.test.js', import.meta.url))
    const { status, stdout } = spawnSync(
      process.execPath,
      ['node_modules/mocha/bin/mocha.js', '--reporter', 'dot', file],
      { env: { ...process.env, SKEIN_SHARDED: 'dates' }, encoding: 'utf8' },
    )
    expect(status, stdout).to.equal(0)
  })
})
