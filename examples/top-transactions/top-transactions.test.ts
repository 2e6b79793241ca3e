import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Account } from './models.js'

describe('the example top-transactions', () => {
  it('keeps the latest and the largest, dropped by the server in the command that adds', async () => {
    await readyForExample([Account])
    const lines: string[] = []
    await main((text) => lines.push(text), 120)
    const amounts = Array.from({ length: 120 }, (_, i) => (i * 7_919) % 10_007).sort((a, b) => a - b)
    expect(lines).to.deep.equal([
      '120 transactions booked: 120 commands in 120 round trips',
      'Loaded with all that is kept: 1 command in 1 round trip',
      '50 latest, the last one to payee 119',
      `50 largest, from ${amounts.at(-50)} to ${amounts.at(-1)}`,
    ])
  })
})
