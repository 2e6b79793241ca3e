import { expect } from 'chai'
import { runDocProgram } from '../doc-program.js'

describe('docs/guide/consolidate.md', () => {
  it('does what it says', async () => {
    const printed = await runDocProgram('guide/consolidate.md')
    expect(printed).to.contain('put lines["bulb"]["quantity"] = 6')
    expect(printed).to.contain('best cy,bo\nlatest al,cy\nsince cy\n')
    const [conflict, last, range, city, author] = printed
      .trim()
      .split('\n')
      .filter((line) => !/^(best|latest|since) /.test(line))
      .slice(-5)
    expect(conflict).to.equal('true')
    expect(last).to.equal("[ 'bo', 'cy' ] 0")
    expect(range).to.equal("[ 'bo' ]")
    expect(city).to.equal('Bern')
    expect(author).to.equal('7')
  })
})
