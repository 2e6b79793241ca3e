import { expect } from 'chai'
import { runDocProgram } from './doc-program.js'

describe('docs/guide/consolidate.md', () => {
  it('does what it says', async () => {
    const printed = await runDocProgram('guide/consolidate.md')
    expect(printed).to.contain('put lines["bulb"]["quantity"] = 6')
    expect(printed).to.contain('put notes["n1"]["replies/r1"]["replies/s1"]')
    expect(printed).to.contain('remove from notes["n1"] by key: "replies/r2"')
    expect(printed).to.contain('best cy,bo\nlatest al,cy\nsince cy\n')
    const lines = printed.split('\n')
    for (const line of ['true', "[ 'bo', 'cy' ] 0", "[ 'bo' ]", 'Bern', '7']) expect(lines).to.include(line)
  })
})
