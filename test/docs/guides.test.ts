import { expect } from 'chai'
import { runDocProgram } from '../doc-program.js'

/** Pages whose examples make one program each, with something it must print. */
const PAGES: readonly (readonly [string, string])[] = [
  ['guide/getting-started.md', "[ 'The Dispossessed' ]"],
  ['guide/sessions.md', 'true\nowner 2 undefined\n'],
  ['reference/open.md', 'true\n'],
  ['reference/events.md', 'Thing write 1 0\n'],
  ['reference/session.md', "true [ 'city' ]"],
]

for (const [page, printed] of PAGES) {
  describe(`docs/${page}`, () => {
    it('shows examples that compile, run and print what they say', async () => {
      expect(await runDocProgram(page)).to.include(printed)
    })
  })
}
