import { expect } from 'chai'
import * as skein from 'skein'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as decorators from '#src/decorators/index.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const docs = readFileSync(path.join(root, 'docs/reference/decorators.md'), 'utf8')

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

  it('has examples that compile and run as one program', () => {
    const source = [...docs.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code).join('\n')
    const folder = path.join(root, '.build/docs')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'decorators.ts'), source)
    const compilerOptions = { rootDir: '.', outDir: 'out', noEmit: false, incremental: false, tsBuildInfoFile: null }
    const config = { extends: '../../test/tsconfig.json', compilerOptions, files: ['decorators.ts'], include: [] }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    const output = execFileSync(process.execPath, [path.join(folder, 'out/decorators.js')], { encoding: 'utf8' })
    expect(output).to.include('Truck → test.vehicle').and.include('comments: oneToMany Comment, consolidate')
  })
})
