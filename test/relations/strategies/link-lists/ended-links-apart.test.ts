import { expect } from 'chai'
import { runInLayout } from '../../property/run-in-layout.js'

const FILES = ['./ended-links.test.js', './ended-link-faults.test.js'].map((file) => new URL(file, import.meta.url))

describe('links in companion records and shards whose attributes have a @DeletedAt', function () {
  this.timeout(300_000)

  it('stay when they are ended, are shown, restored, purged and verified as those in one record are, with faults too', async () => {
    const { code, output } = await runInLayout('1', FILES)
    expect(code, output).to.equal(0)
  })

  it('do so where they are kept by date', async () => {
    const { code, output } = await runInLayout('dates', FILES)
    expect(code, output).to.equal(0)
  })

  it('do so where the records are split on demand', async () => {
    const { code, output } = await runInLayout('demand', FILES)
    expect(code, output).to.equal(0)
  })
})
