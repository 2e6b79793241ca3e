import { expect } from 'chai'
import { readDoc } from '../docs/doc-program.js'
import { CANNOT_PASS } from './cannot-pass.js'
import { SUITE_FILES } from './suite-files.js'

const docs = readDoc('internals/embedded.md')

describe('docs/internals/embedded.md', () => {
  it('lists every test of the suite that is excused, with its reason, and no other', () => {
    const listed = docs.match(/^\| `\w+` +\| .* \| .* \|$/gm) ?? []
    const told = listed.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    const excused = Object.entries(CANNOT_PASS).flatMap(([file, tests]) =>
      Object.entries(tests).map(([title, reason]) => ['', file, title, reason, '']),
    )
    expect(told.filter(([, file]) => SUITE_FILES.some(({ name }) => name === file))).to.deep.equal(excused)
  })
})
