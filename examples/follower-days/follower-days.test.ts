import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Star } from './models.js'

describe('the example follower-days', () => {
  it('adds a follower with one command and reads the days of a window alone', async () => {
    await readyForExample([Star])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'The first of the day follows: 4 commands in 4 round trips',
      'The second of the day follows: 1 command in 1 round trip',
      '12 followed in the last 24 hours',
      'Read: 3 commands in 2 round trips',
      'The newest: fan-1-19, first, second',
      'Read: 4 commands in 3 round trips',
      '282 followers within a month',
    ])
  })
})
