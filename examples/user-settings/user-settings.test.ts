import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { User } from './models.js'

describe('the example user-settings', () => {
  it('reads and changes two of a thousand settings', async () => {
    await readyForExample([User])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines.map((line) => line.replace(/about \d+ bytes/, 'few bytes'))).to.deep.equal([
      'alice@example.org: locale de-CH, theme dark',
      'Last seen: sign-in 498, sign-in 499',
      '  1 command, few bytes sent',
      'One setting changed and one sign-in appended: 1 command, few bytes sent',
      '1002 settings and 501 sign-ins are stored, the theme is light',
    ])
  })
})
