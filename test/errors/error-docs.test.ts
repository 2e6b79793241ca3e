import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { ERROR_CODES } from '#src/errors/index.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const docs = readFileSync(path.join(root, 'docs/reference/errors.md'), 'utf8')
const entries = [...docs.matchAll(/^### (SKEIN_\d+): (.*)\n\n((?:(?!^#).*\n)+)/gm)]

describe('docs/reference/errors.md', () => {
  it('has an entry with the same title for every code, in order, and for nothing else', () => {
    const documented = entries.map(([, code, title]) => `${code}: ${title}`)
    const known = Object.entries(ERROR_CODES).map(([code, title]) => `${code}: ${title}`)
    expect(documented).to.deep.equal(known.toSorted())
  })

  it('explains every code', () => {
    for (const [, code, , text] of entries) expect(text.trim().length, code).to.be.greaterThan(20)
  })
})

describe('error codes', () => {
  const unusedIn = (folder: string, codes: readonly string[]): string[] => {
    const text = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith(path.join('errors', 'codes')))
      .map((file) => readFileSync(path.join(root, folder, file), 'utf8'))
      .join('\n')
    return codes.filter((code) => !text.includes(code))
  }

  it('are each used somewhere in the source', () => {
    expect(unusedIn('src', Object.keys(ERROR_CODES))).to.deep.equal([])
  })

  it('of the model each have a test that makes the mistake', () => {
    const checks = Object.keys(ERROR_CODES).filter((code) => /^SKEIN_1(?!000)/.test(code))
    expect(unusedIn('test/model', checks)).to.deep.equal([])
  })
})
