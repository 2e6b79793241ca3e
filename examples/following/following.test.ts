import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { User } from './models.js'

describe('the example following', () => {
  it('adds one that a user follows by one command of constant size, and reads the user without the list', async () => {
    await readyForExample([User])
    const lines: string[] = []
    await main((text) => lines.push(text))
    const [bytes, more, less] = [0, 1, 5].map((at) => Number(/about (\d+) bytes/.exec(lines[at])?.[1]))
    expect(bytes).to.be.within(20, 500)
    expect(more).to.equal(bytes)
    expect(lines).to.deep.equal([
      `Ada follows her second: 1 command, about ${bytes} bytes sent`,
      `Ada follows one more, after 998: 1 command, about ${bytes} bytes sent`,
      'The profile of Ada: 1 command in 1 round trip',
      'She follows 999, user-0007 is one of them: true: 4 commands in 2 round trips',
      'The first three: User 0, User 1, User 2: 5 commands in 2 round trips',
      `She follows one less: 1 command, about ${less} bytes sent`,
      'Records of whom she follows, once she is deleted: 0',
    ])
  })
})
