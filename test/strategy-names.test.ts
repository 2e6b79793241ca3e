import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

/** Folder of the rules that a declaration has to meet, and the list that makes the strategies. */
const MAY_ASK = /^(model\/compile\/|relations\/strategy-registry\.ts)/

/** Compares the name of a strategy with a text. */
const ASKS = /\bstrategy\s*[!=]==\s*'/

describe('the name of a strategy', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const asking = files.filter((name) => ASKS.test(readFileSync(join(SOURCE, name), 'utf8')))

  it('is asked for where strategies are declared and made', () => {
    expect(asking.some((name) => MAY_ASK.test(name))).to.equal(true)
  })

  it('is asked for nowhere else, so that another strategy is one folder and one line', () => {
    expect(asking.filter((name) => !MAY_ASK.test(name))).to.deep.equal([])
  })
})
