import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Fan, Star } from './models.js'

describe('the example follower-days', () => {
  it('adds a follower with one command and reads the days of a window alone', async () => {
    await readyForExample([Star, Fan])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'The first of the day follows: 4 commands in 4 round trips',
      'The second of the day follows: 1 command in 1 round trip',
      '12 followed in the last 24 hours',
      // The star, two days, and the fans.
      'Read: 15 commands in 3 round trips',
      'The newest: fan-1-19, first, second',
      'Read: 4 commands in 3 round trips',
      '282 followers within a month',
      // The star and its 15 days, then the one that has the fan.
      'Unfollow: 17 commands in 2 round trips',
    ])
  })
})
