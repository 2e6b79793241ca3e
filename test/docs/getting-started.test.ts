import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDoc } from './doc-program.js'

const root = fileURLToPath(new URL('.', import.meta.resolve('skein/package.json')))
const page = readDoc('guide/getting-started.md')

/** Code blocks of one language, in order. */
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, code]) => code)

// From an empty folder, as the page says, but for one thing: packages come from the project and not from a registry.
describe('docs/guide/getting-started.md', function () {
  this.timeout(180_000)
  let folder: string
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'skein-start-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  const shell = (command: string): string => {
    const env = { ...process.env, npm_config_offline: 'true', NODE_OPTIONS: '' }
    return execFileSync('bash', ['-c', command], {
      cwd: folder,
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** Installs what `npm install <name>` would bring, with its commands. */
  const link = (name: string, from: string): void => {
    const to = path.join(folder, 'node_modules', name)
    mkdirSync(path.dirname(to), { recursive: true })
    symlinkSync(from, to)
    const { bin = {} } = JSON.parse(readFileSync(path.join(from, 'package.json'), 'utf8')) as { bin?: string | object }
    const commands = typeof bin === 'string' ? { [name]: bin } : bin
    mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true })
    for (const [command, file] of Object.entries(commands) as [string, string][])
      symlinkSync(path.join(to, file), path.join(folder, 'node_modules/.bin', command))
  }

  const install = (names: readonly string[]): void => {
    for (const name of names.filter((each) => !each.startsWith('-'))) {
      if (name === 'skein') installPacked()
      else link(name, path.join(root, 'node_modules', name))
    }
  }

  /** The files that would be published, and what they depend on. */
  const installPacked = (): void => {
    const packed = path.join(folder, 'node_modules/skein')
    mkdirSync(packed, { recursive: true })
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', packed], {
      cwd: root,
      stdio: 'pipe',
    })
    const [archive] = readdirSync(packed)
    execFileSync('tar', ['-xzf', archive, '--strip-components=1'], { cwd: packed })
    const { dependencies } = JSON.parse(readFileSync(path.join(packed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    for (const name of Object.keys(dependencies)) link(name, path.join(root, 'node_modules', name))
  }

  it('works word by word, with tsx and with tsc', () => {
    const [setUp, runs] = blocks('sh')
    for (const line of setUp.trim().split('\n')) {
      const [, packages] = /^npm install (.*)$/.exec(line) ?? []
      if (packages === undefined) shell(line)
      else install(packages.split(' '))
    }
    writeFileSync(path.join(folder, 'tsconfig.json'), blocks('json')[0])
    writeFileSync(path.join(folder, 'library.ts'), blocks('ts').join('\n'))
    const commands = runs.trim().split('\n')
    expect(commands).to.have.length(2)
    for (const command of commands) {
      const printed = shell(command)
      expect(printed, command).to.include("[ 'The Dispossessed' ]").and.include('true No Book is stored under')
    }
  })
})
