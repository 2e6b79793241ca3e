import { expect } from 'chai'
import { readDoc, runDocProgram } from './doc-program.js'

describe('docs/reference/keys.md', () => {
  it('has examples that compile, run and print what it says', async () => {
    const said = [...readDoc('reference/keys.md').matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text)
    const printed = (await runDocProgram('reference/keys.md')).trim().split('\n')
    expect(said).to.have.length.greaterThan(5)
    expect(printed).to.deep.equal(said)
  })
})
