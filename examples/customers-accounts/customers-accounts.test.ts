import { expect } from 'chai'
import { readyForExample } from '../../test/example-server.js'
import { main } from './main.js'
import { Account, Customer } from './models.js'

describe('the example customers-accounts', () => {
  it('keeps roles on both sides of a link and changes one field of them', async () => {
    await readyForExample([Customer, Account])
    const lines: string[] = []
    await main((text) => lines.push(...text.split('\n')))
    expect(lines).to.include('  Ann is owner since 2020').and.include('  Bob is reader since 2024')
    const asked = lines.indexOf('Asked for that one link alone: Bob is reader')
    expect(lines[asked + 1]).to.equal('  1 command in 1 round trip')
    expect(lines.filter((line) => line.includes('role'))).to.have.length(2)
    expect(lines.at(-1)).to.match(/^Ann is deleted; the account belongs to Bob:/)
  })
})
