import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Comment, Post } from './models.js'

describe('the example popular-post', () => {
  it('splits the list of comments while they are written, and loses none', async () => {
    await readyForExample([Post, Comment])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'Post.comments: from 0 to 8 companion records, because of members',
      '464 comments, and 16 were taken back',
      'The first: comment 1 of 0, comment 10 of 0, comment 11 of 0',
      'Back in one record: 464 comments',
    ])
  })
})
