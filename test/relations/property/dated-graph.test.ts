import { expect } from 'chai'
import { runInLayout, type Ended } from './run-in-layout.js'

const fileOf = (name: string): URL => new URL(name, import.meta.url)

describe('links by date', function () {
  this.timeout(Number(process.env.SKEIN_RUNS ?? 30) * 10_000)
  let byDay: Promise<Ended>
  let byHour: Promise<Ended>
  before(() => {
    byDay = runInLayout('dates', [fileOf('./graph.test.js')])
    byHour = runInLayout('hours', [fileOf('./lasting-graph.test.js')])
  })

  it('are stored and shown as those in one record are, on whichever days they were made', async () => {
    const { code, output } = await byDay
    expect(code, output).to.equal(0)
  })

  it('are stored and shown as those in one record are, ended, restored and purged as time goes on', async () => {
    const { code, output } = await byHour
    expect(code, output).to.equal(0)
  })
})
