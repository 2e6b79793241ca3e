import { transformFile, type Options } from '@swc/core'
import { expect } from 'chai'
import { build } from 'esbuild'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const setups = path.join(root, 'test/setups')
// Inside the package, so that the built files find it by its own name.
const builds = path.join(root, '.build/setups')

const EXPECTED = `Agent → test.agent
  key       id: int
  bins      id       int (key)
            name     string
            tags     list<string>
            address  Address
            version  int (version)
  relations listings: oneToMany Listing.agent, keyList, onDelete cascade

Listing → test.listing
  key       id: string, generated uuid
  bins      id        string (key)
            city      string
            listedAt  date
            price     double
  relations agent: manyToOne Agent.listings, keyBin, owner
  indexes   listing_city: string on 'city'

Address (part)
  fields    city  string
`

/** The files of reflected/ or typed/; agent.ts and listing.ts import each other. */
function sources(folder: 'reflected' | 'typed'): string[] {
  return readdirSync(path.join(setups, folder)).map((name) => path.join(setups, folder, name))
}

function run(file: string, nodeOptions: string[] = [], env: NodeJS.ProcessEnv = {}): string {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const
  return execFileSync(process.execPath, [...nodeOptions, file], options)
}

function tsc(name: string): string {
  const outDir = path.join(builds, name)
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', path.join(setups, name), '--outDir', outDir], { cwd: root })
  return outDir
}

function expectModel(output: string): void {
  const [model, json, shown] = output.split(/\n(?=\{|Ref)/)
  expect(model + '\n').to.equal(EXPECTED)
  expect(JSON.parse(json)).to.deep.include({ id: 17, name: 'Ada', tags: [], address: { city: 'Rome' } })
  expect((JSON.parse(json) as { listings: unknown[] }).listings[0]).to.include({ id: 'r1', price: 2, agent: 17 })
  expect(shown.trim()).to.equal('Ref(17)')
}

describe('a model with circular imports compiles and runs', () => {
  before(() => rmSync(builds, { recursive: true, force: true }))

  it('with tsc and useDefineForClassFields', () => {
    const outDir = tsc('tsc-define')
    expect(readFileSync(path.join(outDir, 'agent.js'), 'utf8')).to.match(/^ {4}version;$/m)
    expectModel(run(path.join(outDir, 'main.js')))
  })

  it('with tsc and without useDefineForClassFields', () => {
    const outDir = tsc('tsc-assign')
    expect(readFileSync(path.join(outDir, 'agent.js'), 'utf8')).not.to.match(/^ {4}version;$/m)
    expectModel(run(path.join(outDir, 'main.js')))
  })

  it('with swc', async () => {
    const outDir = path.join(builds, 'swc')
    mkdirSync(outDir, { recursive: true })
    const options = JSON.parse(readFileSync(path.join(setups, 'swc/swcrc.json'), 'utf8')) as Options
    for (const file of sources('reflected')) {
      const { code } = await transformFile(file, { ...options, swcrc: false })
      writeFileSync(path.join(outDir, path.basename(file, '.ts') + '.js'), code)
    }
    expectModel(run(path.join(outDir, 'main.js')))
  })

  it('with esbuild, which emits no metadata, when types are in the decorators', async () => {
    const outDir = path.join(builds, 'esbuild')
    const tsconfig = path.join(setups, 'esbuild/tsconfig.json')
    await build({ entryPoints: sources('typed'), outdir: outDir, format: 'esm', tsconfig })
    expectModel(run(path.join(outDir, 'main.js')))
  })

  it('with tsx, when types are in the decorators', () => {
    const env = { TSX_TSCONFIG_PATH: path.join(setups, 'tsx/tsconfig.json') }
    expectModel(run(path.join(setups, 'typed/main.ts'), ['--import', 'tsx'], env))
  })

  it('and names the property and the fix when esbuild leaves a type out', async () => {
    const outDir = path.join(builds, 'esbuild-reflected')
    const tsconfig = path.join(setups, 'esbuild/tsconfig.json')
    await build({ entryPoints: sources('reflected'), outdir: outDir, format: 'esm', tsconfig })
    expect(() => run(path.join(outDir, 'main.js'))).to.throw(
      /SKEIN_1020 Agent\.name: .*\n +Fix: Say it in the decorator/,
    )
  })
})
