import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { SensorDay } from './models.js'

describe('the example sensor-minutes', () => {
  it('keeps a day of readings in the order of time and asks for windows of it', async () => {
    await readyForExample([SensorDay])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines.map((line) => line.replace(/about [\d,]+ bytes sent$/, 'about n bytes sent'))).to.deep.equal([
      '1,440 readings reported: 24 commands, about n bytes sent',
      'One more: 1 command, about n bytes sent',
      'Between 8:00 and 8:30: 30 readings, up to 8.5 °C',
      '  1 command, about n bytes sent',
      'The last one: 24 °C, 721 since noon',
      '  2 commands, about n bytes sent',
      '721 are left after trimming the morning: 1 command, about n bytes sent',
    ])
    const bytes = lines
      .flatMap((line) => /about ([\d,]+) bytes sent$/.exec(line)?.[1].replace(',', '') ?? [])
      .map(Number)
    expect(Math.max(...bytes.slice(1)), 'nothing of the list is sent to ask or change it').to.be.below(500)
  })
})
