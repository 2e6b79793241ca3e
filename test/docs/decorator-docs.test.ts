import { expect } from 'chai'
import * as skein from 'skein'
import * as decorators from '#src/decorators/index.js'
import { readDoc, runDocProgram } from './doc-program.js'

const docs = readDoc('reference/decorators.md')

describe('docs/reference/decorators.md', () => {
  it('has a heading for every decorator, and each is exported', () => {
    const headings = docs.split('\n').filter((line) => line.startsWith('###'))
    for (const name of Object.keys(decorators)) {
      expect(skein).to.have.property(name)
      expect(
        headings.some((heading) => heading.includes(`\`@${name}(`)),
        name,
      ).to.equal(true)
    }
  })

  it('has examples that compile and run as one program', async () => {
    const output = await runDocProgram('reference/decorators.md')
    expect(output).to.include('Truck → test.vehicle').and.include('comments: oneToMany Comment, consolidate')
  })
})
