import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Post } from './models.js'

describe('the example popular-post', () => {
  it('splits a post while comments are written into it, and loses none', async () => {
    await readyForExample([Post])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'Post.comments: from 0 to 8 companion records, because of bytes',
      '465 comments, and 16 were removed',
      'The last: comment 29 of 13, comment 29 of 14, comment 29 of 15',
      'The first was liked 480 times',
      'Back in one record: 465 comments',
    ])
  })
})
