import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Star, User } from './models.js'

describe('the example celebrity', () => {
  it('adds a follower by one command, whatever their number, and reads pages of them', async () => {
    await readyForExample([Star, User])
    const lines: string[] = []
    await main((text) => lines.push(text), 1_000)
    const bytes = /about (\d+) bytes/.exec(lines[1])?.[1]
    expect(Number(bytes)).to.be.within(20, 500)
    expect(lines).to.deep.equal([
      '1,000 users follow Ada',
      `One more follows: 1 command, about ${bytes} bytes sent`,
      'fan-000007 follows Ada: true: 2 commands in 1 round trip',
      'Ada has 1,001 followers: 36 commands in 1 round trip',
      'Page 1: Fan 0000, Fan 0001, Fan 0002, Fan 0003, Fan 0004: 41 commands in 2 round trips',
      'Page 2: Fan 0005, Fan 0006, Fan 0007, Fan 0008, Fan 0009: 41 commands in 2 round trips',
      'Late follows Fan 0001, Fan 0002, Fan 0003: 6 commands in 3 round trips',
      'Late alone, without that list: 1 command in 1 round trip',
    ])
  })
})
