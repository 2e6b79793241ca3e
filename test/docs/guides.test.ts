import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readDoc, runDocProgram } from './doc-program.js'

/** Pages whose examples make one program each, with something it must print. */
const PAGES: readonly (readonly [string, string])[] = [
  ['guide/getting-started.md', "[ 'The Dispossessed' ]"],
  ['guide/sessions.md', 'true\nowner 2 undefined\n'],
  ['reference/open.md', 'true\n'],
  ['reference/events.md', 'Thing write 1 0\nShelf scan 1 0\n'],
  ['reference/session.md', "true [ 'city' ]"],
]

/** Pages whose programs print exactly what the comments beside their calls say. */
const SAID = [
  'guide/archive.md',
  'guide/cluster.md',
  'guide/copies.md',
  'guide/counters.md',
  'guide/deletes.md',
  'guide/growth.md',
  'guide/history.md',
  'guide/link-records.md',
  'guide/lists-and-maps.md',
  'guide/queries.md',
  'guide/relations.md',
  'guide/secondary-indexes.md',
  'guide/several-classes.md',
  'guide/soft-deletes.md',
  'guide/time-slices.md',
  'guide/transactions.md',
  'guide/walks.md',
  'guide/without-loading.md',
  'reference/errors.md',
  'reference/relations.md',
]

/** Pages that other tests run. */
const ELSEWHERE = [
  'guide/consolidate.md',
  'guide/testing.md',
  'guide/verify.md',
  'reference/decorators.md',
  'reference/keys.md',
  'reference/types.md',
]

for (const [page, printed] of PAGES) {
  describe(`docs/${page}`, () => {
    it('shows examples that compile, run and print what they say', async () => {
      expect(await runDocProgram(page)).to.include(printed)
    })
  })
}

for (const page of SAID) {
  describe(`docs/${page}`, () => {
    it('shows examples that compile, run and print what they say', async () => {
      const said = [...readDoc(page).matchAll(/^(?:.*console\.log\(.*\)|\}) \/\/ (.*)$/gm)].map(([, text]) => text)
      expect(said).to.not.have.length(0)
      const printed = (await runDocProgram(page)).trim().split('\n')
      expect(printed).to.deep.equal(said)
    })
  })
}

describe('docs', () => {
  it('have no page with examples that no test runs', () => {
    const docs = fileURLToPath(new URL('docs/', import.meta.resolve('skein/package.json')))
    const pages = ['guide', 'reference'].flatMap((folder) =>
      readdirSync(docs + folder).map((name) => `${folder}/${name}`),
    )
    const known = [...PAGES.map(([page]) => page), ...SAID, ...ELSEWHERE]
    const withExamples = pages.filter((page) => readDoc(page).includes('```ts\n'))
    expect(withExamples.filter((page) => !known.includes(page))).to.deep.equal([])
  })
})
