import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { NotificationDay } from './models.js'

describe('the example notifications', () => {
  it('counts, marks and removes notifications of a day without loading them', async () => {
    await readyForExample([NotificationDay])
    const lines: string[] = []
    await main((text) => lines.push(text))
    const comments = lines[5].replace('Unread comments: ', '').split(', ')
    const expected = Array.from({ length: 30 }, (_, i) => i)
      .filter((i) => i % 2 === 1 && i % 3 !== 2 && i !== 7)
      .map((i) => `n${i} of ${['bob', 'carol'][i % 3]}`)
    // Chance decides which of those that came in at once was first.
    expect(comments.sort()).to.deep.equal(expected.sort())
    const others = lines.filter((_, i) => i !== 5).map((line) => line.replace(/about [\d,]+ bytes/, 'few bytes'))
    expect(others).to.deep.equal([
      '30 come in at once, the first of them makes the record: 30 commands, few bytes sent',
      '30 unread',
      '  1 command, few bytes sent',
      'One is marked as read: 1 command, few bytes sent',
      'Those of a blocked user are removed: 1 command, few bytes sent',
      '  1 command, few bytes sent',
      '30 came in, 20 are left',
    ])
  })
})
