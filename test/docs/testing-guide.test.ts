import { runDocProgram } from './doc-program.js'

describe('docs/guide/testing.md', () => {
  it('has examples that compile, run, and end by themselves', async () => {
    await runDocProgram('guide/testing.md')
  })
})
