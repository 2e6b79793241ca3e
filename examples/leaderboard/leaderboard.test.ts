import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Leaderboard } from './models.js'

describe('the example leaderboard', () => {
  it('keeps players in the order of their points and answers without loading them', async () => {
    await readyForExample([Leaderboard])
    const lines: string[] = []
    await main((text) => lines.push(text), 1_000)
    const best = Array.from({ length: 1_000 }, (_, i) => ({ name: `player ${i}`, points: (i * 7_919) % 10_007 }))
    best.sort((a, b) => b.points - a.points)
    const now = [{ name: 'player 17', points: 10_020 }, ...best.filter(({ name }) => name !== 'player 17')]
    const among = now.filter(({ points }) => points >= 10_000 && points < 10_005).reverse()
    const withoutBytes = lines.map((line) => line.replace(/about [\d,]+ bytes sent$/, 'about n bytes sent'))
    expect(withoutBytes).to.deep.equal([
      '1,000 players',
      ...best.slice(0, 3).map(({ name, points }) => `  ${points} ${name}`),
      'The best three: 1 command, about n bytes sent',
      'A new score of player 17 takes the place of the old one: 1 command, about n bytes sent',
      '1,000 players, the best is player 17',
      'The most recent scores are of player 17, player 999, player 998',
      '  2 commands, about n bytes sent',
      `Player 42 has place ${now.findIndex(({ name }) => name === 'player 42') + 1}: 2 commands, about n bytes sent`,
      `Between 10,000 and 10,005 points: ${among.map(({ name }) => name).join(', ')}`,
      '  1 command, about n bytes sent',
    ])
  })
})
