import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Post, User } from './models.js'

describe('the example posts-comments', () => {
  it('reads posts with comments and authors, adds replies, and deletes an account with its comments and replies', async () => {
    const mode = await readyForExample([User, Post])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'Alma: Alma on 2',
      'Bo: Bo on 2',
      'Bo: Bo again on 2',
      '  a post, its comments and their authors: 3 commands in 2 round trips',
      'One comment removed: 1 command in 1 round trip',
      'Two replies, one below the other: 1 command in 1 round trip',
      'Bo replied on post 2: Alma on 2 (Bo replies (Alma replies)), Bo again on 2',
      'Bo commented on the posts 2 and 4: one index query',
      `Bo's account deleted: ${mode === 'sc' ? '11 commands in 10' : '6 commands in 5'} round trips`,
      'post 1: Alma on 1',
      'post 2: Alma on 2',
      'post 3: Alma on 3',
      'post 4: Alma on 4',
    ])
  })
})
