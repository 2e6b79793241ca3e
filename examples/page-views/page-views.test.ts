import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Page } from './models.js'

describe('the example page-views', () => {
  it('counts every view of 64 writers with one command each, and reads the sum with one batch', async () => {
    await readyForExample([Page])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      '3200 views by 64 writers: 3200 commands',
      'Home has 3216 views',
      'Read: 17 commands in 1 round trip',
    ])
  })
})
