import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

describe('relations in companion records', function () {
  this.timeout(300_000)

  // The classes are declared once in a process, so that another layout needs one of its own.
  for (const [file, layout] of [
    ['graph.test.js', '1'],
    ['lasting-graph.test.js', '1'],
    ['../strategies/link-lists/deleted-links.test.js', '1'],
    ['../strategies/consolidate/consolidate-property.test.js', '1'],
    ['graph.test.js', 'demand'],
    ['lasting-graph.test.js', 'demand'],
    ['../strategies/link-lists/deleted-links.test.js', 'demand'],
    ['../strategies/consolidate/consolidate-property.test.js', 'demand'],
  ]) {
    it(`are stored and shown as those in one record are (${file}${layout === 'demand' ? ', split on demand' : ''})`, function () {
      const { status, stdout } = spawnSync(
        process.execPath,
        ['node_modules/mocha/bin/mocha.js', '--reporter', 'dot', beside(file)],
        { env: { ...process.env, SKEIN_SHARDED: layout }, encoding: 'utf8' },
      )
      expect(status, stdout).to.equal(0)
    })
  }
})
