import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

describe('relations in companion records', function () {
  this.timeout(300_000)

  // The classes are declared once in a process, so that the other layout needs one of its own.
  for (const file of ['graph.test.js', 'deleted-links.test.js', 'consolidate-property.test.js']) {
    it(`are stored and shown as those in one record are (${file})`, () => {
      const { status, stdout } = spawnSync(
        process.execPath,
        ['node_modules/mocha/bin/mocha.js', '--reporter', 'dot', beside(file)],
        { env: { ...process.env, SKEIN_SHARDED: '1' }, encoding: 'utf8' },
      )
      expect(status, stdout).to.equal(0)
    })
  }
})
