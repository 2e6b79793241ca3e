import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

describe('links in companion records and shards whose attributes have a @DeletedAt', function () {
  this.timeout(300_000)

  // The classes are declared once in a process, so that another layout needs one of its own.
  it('stay when they are ended, are shown, restored, purged and verified as those in one record are, with faults too', () => {
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        'node_modules/mocha/bin/mocha.js',
        '--reporter',
        'dot',
        beside('ended-links.test.js'),
        beside('ended-link-faults.test.js'),
      ],
      { env: { ...process.env, SKEIN_SHARDED: '1' }, encoding: 'utf8' },
    )
    expect(status, stdout).to.equal(0)
  })
})
