import { expect } from 'chai'
import { runInLayout } from './run-in-layout.js'

describe('links by date', function () {
  this.timeout(300_000)

  it('are stored and shown as those in one record are, on whichever days they were made', async () => {
    const { code, output } = await runInLayout('dates', [new URL('./graph.test.js', import.meta.url)])
    expect(code, output).to.equal(0)
  })
})
