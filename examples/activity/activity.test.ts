import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Feed, Like, Member, Photo, Post } from './models.js'

describe('the example activity', () => {
  it('shows a feed of posts and photos, and moves likes between them', async () => {
    await readyForExample([Member, Post, Photo, Like, Feed], [])
    const lines: string[] = []
    await main((text) => lines.push(text))
    const counted = /: [\d,]+ commands? in ([\d,]+) round trips?$/
    expect(counted.exec(lines[0])?.[1]).to.equal('3')
    expect(lines.map((line) => line.replace(counted, ''))).to.deep.equal([
      'Photo "The sea" by bob, Post "Hello" by ada',
      'A like moves from the post to the photo',
      'Likes of the post: 1, of the photo: 2',
      'The photo is deleted with its likes; left: ada-1',
    ])
  })
})
