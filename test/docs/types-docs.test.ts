import { expect } from 'chai'
import { runDocProgram } from './doc-program.js'

describe('docs/reference/types.md', () => {
  it('has examples that compile and run', async () => {
    expect(await runDocProgram('reference/types.md')).to.include('total  custom(money)')
  })
})
