// Runs the compiled tests in four mocha processes side by side, because tests often wait; in one against a named server, whose sets all would share.
// Usage: node scripts/run-tests.js [mocha options]
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The program itself: mocha.js would start it in yet another process. */
const MOCHA = 'node_modules/mocha/bin/_mocha'

const files = ['.build/test', '.build/examples']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.test.js'))
  .sort()

/** Seconds of the files that take more than two, as test/file-seconds.ts measured them. */
const measured = JSON.parse(readFileSync('scripts/test-seconds.json', 'utf8'))

function secondsOf(file) {
  const source = file.replace(/^\.build\//, '').replace(/\.js$/, '.ts')
  return measured[source] ?? Math.min(2, statSync(file).size / 20_000)
}

/** Groups the files that must share a process: those of the docs compile all pages together. */
function unitsOf(files) {
  const units = new Map()
  for (const file of files) {
    const name = file.startsWith('.build/test/docs/') ? 'docs' : file
    const unit = units.get(name) ?? { files: [], seconds: 0 }
    unit.files.push(file)
    unit.seconds += secondsOf(file)
    units.set(name, unit)
  }
  return [...units.values()]
}

/** Deals the files out, the longest first, each to the process that has least to do. */
function deal(count) {
  const shares = Array.from({ length: count }, () => ({ files: [], seconds: 0 }))
  for (const unit of unitsOf(files).sort((a, b) => b.seconds - a.seconds)) {
    const share = shares.reduce((least, each) => (each.seconds < least.seconds ? each : least))
    share.files.push(...unit.files)
    share.seconds += unit.seconds
  }
  return shares.map((share) => share.files.sort())
}

/** Options of V8 for code that hardly runs hot: optimizing it took a quarter of the processor time of all tests. */
const NODE_OPTIONS = ['--enable-source-maps', '--interrupt-budget=500000', '--max-semi-space-size=32']

function run(share, isFirst) {
  return new Promise((resolve) => {
    const mocha = spawn(process.execPath, [...NODE_OPTIONS, MOCHA, ...process.argv.slice(2), ...share], {
      stdio: ['ignore', isFirst ? 'inherit' : 'pipe', isFirst ? 'inherit' : 'pipe'],
    })
    const output = []
    mocha.stdout?.on('data', (chunk) => output.push(chunk))
    mocha.stderr?.on('data', (chunk) => output.push(chunk))
    mocha.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }))
  })
}

const shares = deal(process.env.AEROSPIKE_HOSTS ? 1 : 4)
const results = await Promise.all(shares.map((share, index) => run(share, index === 0)))
for (const { output } of results) process.stdout.write(output)
process.exit(Math.max(...results.map(({ code }) => code)))
