import { expect } from 'chai'
import { runDocProgram } from './doc-program.js'

describe('README.md', () => {
  it('shows an example that compiles, runs and prints what it says', async () => {
    const printed = await runDocProgram('../README.md')
    expect(printed.startsWith('Alma\n')).to.equal(true)
    expect(printed).to.include('stage 1: write')
    expect(printed).to.include('add to listings if absent: "a2"')
  })
})
