import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Order } from './models.js'

describe('the example orders', () => {
  it('reads an order with its lines in one command, and changes single lines in one', async () => {
    await readyForExample([Order])
    const lines: string[] = []
    await main((text) => lines.push(text))
    expect(lines).to.deep.equal([
      'An order with three lines: 1 command in 1 round trip',
      'Loaded with its lines: 1 command in 1 round trip',
      '  4 × bulb',
      '  2 × cable',
      '  1 × lamp',
      'What changing it would send:',
      '  remove from lines by key: "cable"',
      '  put lines["bulb"]["quantity"] = 6',
      '  put into lines: "switch"',
      '  read the size of the record',
      'One line added, one changed, one removed: 1 command in 1 round trip',
      'bulb, lamp, switch: 82.00',
    ])
  })
})
