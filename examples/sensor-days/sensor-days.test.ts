import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { SensorDay } from './models.js'

describe('the example sensor-days', () => {
  it('writes each reading with one command and reads a week with one batch', async () => {
    await readyForExample([SensorDay])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      '216 readings reported: 216 commands in 216 round trips',
      '6 of 7 days have readings, the warmest of each: 23 23 23 23 23 23',
      'Read: 7 commands in 1 round trip',
      '216 samples in all',
    ])
  })
})
