import { expect } from 'chai'
import { runDocProgram } from './doc-program.js'

describe('docs/guide/verify.md', () => {
  it('has examples that compile and print what they say', async function () {
    const printed = await runDocProgram('guide/verify.md')
    expect(printed.trim().split('\n')).to.deep.equal([
      'missingLink repaired',
      'Agent 1 lacks Listing "a" in listings, which names it in agent.',
    ])
  })
})
