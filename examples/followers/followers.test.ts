import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { User } from './models.js'

describe('the example followers', () => {
  it('checks, counts and pages without loading', async () => {
    const mode = await readyForExample([User])
    const lines: string[] = []
    await main((text) => lines.push(text), 2_000)
    expect(lines[0]).to.match(/^2,000 users follow user 1: [\d,]+ commands in [\d,]+ round trips$/)
    expect(lines.slice(1)).to.deep.equal([
      'User 777 follows user 1: true',
      '  1 command in 1 round trip, answered by the server',
      'User 1 has 2,000 followers: 1 command in 1 round trip',
      'Five of them from position 1,000 on: user 1002, user 1003, user 1004, user 1005, user 1006',
      '  6 commands in 2 round trips: five keys, then five users',
      `User 2 follows user 3: 2 commands in ${mode === 'sc' ? '2 round trips' : '1 round trip'}, neither was loaded`,
      'Followers of user 3: 2: 1 command in 1 round trip',
    ])
  })
})
