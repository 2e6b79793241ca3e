import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Member } from './models.js'

describe('the example statistics', () => {
  it('counts into nested maps from many sessions and loses nothing', async () => {
    await readyForExample([Member])
    const lines: string[] = []
    await main((text) => lines.push(text), 51)
    expect(lines.map((line) => line.replace(/about [\d,]+ bytes/, 'few bytes'))).to.deep.equal([
      '51 writers count at once, and make what is missing: 51 commands, few bytes sent',
      'stats.accolades.jokes is 26, most often: jokes 26, messages: 153',
      '  1 command, few bytes sent',
      'Two sessions that loaded it add a reaction each: 2',
    ])
  })
})
