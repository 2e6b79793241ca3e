import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Agent, Listing } from './models.js'

describe('the example real-estate', () => {
  it('links, lists, adds and deletes in as few commands as it says', async () => {
    await readyForExample([Agent, Listing])
    const lines: string[] = []
    const progress: string[] = []
    await main(
      (text) => lines.push(...text.split('\n').map((line) => line.trim())),
      (text) => progress.push(text),
      { agents: 120, listings: 600 },
    )
    expect(progress.map((text) => text.trim())).to.deep.equal([
      '100 of 120 agents with their listings saved',
      '120 of 120 agents with their listings saved',
    ])
    expect(lines).to.include('L17-1  18 Station Road, Utrecht, 320000')
    expect(lines).to.include('6 commands in 2 round trips: the agent, then all its listings at once')
    expect(lines).to.include('2 commands in 2 round trips; the list itself was neither read nor sent')
    expect(lines).to.include.members([
      'agent 17 has 6 listings',
      'L17-new is among them: true',
      'L18-1 is among them: false',
      'L17-new is gone, and agent 17 lists L17-1, L17-2, L17-3, L17-4, L17-5',
      'agent 17 is gone, and 0 of its listings are left',
    ])
  })
})
