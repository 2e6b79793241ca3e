import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const program = fileURLToPath(new URL('./programs/without-code-generation.js', import.meta.url))

describe('where code generation from strings is forbidden', () => {
  it('the interpreter does the work', () => {
    const output = execFileSync(process.execPath, ['--disallow-code-generation-from-strings', program], {
      encoding: 'utf8',
    })
    expect(JSON.parse(output)).to.deep.equal({
      mayGenerate: false,
      agent: { id: 1, name: 'Eve' },
      changes: [{ kind: 'writeBin', bin: 'name', value: 'Eve' }],
    })
  })
})
