import { expect } from 'chai'
import { isNamedServer, need } from '../../test/server.js'
import { main } from './main.js'

describe('the example profile-avatar', () => {
  it('keeps the two in their namespaces and reads them together', async function () {
    need(this, isNamedServer ? undefined : true, 'needs the namespaces users and media')
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'Ada and her avatar of 64 KiB saved, each in its namespace: 2 commands in 1 round trip',
      'Ada alone, as on every page: 1 command in 1 round trip',
      'Ada with her avatar (65536 bytes): 2 commands in 1 round trip',
      'Ada renamed; the image was not sent again: 1 command in 1 round trip',
      'Ada deleted, her avatar is gone too: 5 commands in 5 round trips',
    ])
  })
})
