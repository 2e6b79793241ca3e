import { expect } from 'chai'
import { runInLayout, type Ended } from './run-in-layout.js'

const FILES = [
  './graph.test.js',
  './lasting-graph.test.js',
  '../strategies/link-lists/deleted-links.test.js',
  '../strategies/consolidate/consolidate-property.test.js',
].map((file) => new URL(file, import.meta.url))

describe('relations in companion records', function () {
  this.timeout(Number(process.env.SKEIN_RUNS ?? 30) * 10_000)
  let sharded: Promise<Ended>
  let onDemand: Promise<Ended>
  before(() => {
    sharded = runInLayout('1', FILES)
    onDemand = runInLayout('demand', FILES)
  })

  it('are stored and shown as those in one record are', async () => {
    const { code, output } = await sharded
    expect(code, output).to.equal(0)
  })

  it('are stored and shown as those in one record are, split on demand', async () => {
    const { code, output } = await onDemand
    expect(code, output).to.equal(0)
  })
})
