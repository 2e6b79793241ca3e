// Runs the compiled tests in two mocha processes side by side, or in one against a named server: both would share its sets.
// Usage: node scripts/run-tests.js [mocha options]
import { spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const files = ['.build/test', '.build/examples']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.test.js'))
  .sort()

/** Deals the files out folder by folder, so that both processes get a share of each kind of test. */
function deal(count) {
  const shares = Array.from({ length: count }, () => ({ files: [], bytes: 0 }))
  for (const file of files) {
    const share = shares.reduce((least, each) => (each.bytes < least.bytes ? each : least))
    share.files.push(file)
    share.bytes += statSync(file).size
  }
  return shares.map((share) => share.files)
}

function run(share, isFirst) {
  return new Promise((resolve) => {
    const mocha = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', ...process.argv.slice(2), ...share], {
      stdio: ['ignore', isFirst ? 'inherit' : 'pipe', isFirst ? 'inherit' : 'pipe'],
    })
    const output = []
    mocha.stdout?.on('data', (chunk) => output.push(chunk))
    mocha.stderr?.on('data', (chunk) => output.push(chunk))
    mocha.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }))
  })
}

const shares = deal(process.env.AEROSPIKE_HOSTS ? 1 : 2)
const results = await Promise.all(shares.map((share, index) => run(share, index === 0)))
for (const { output } of results) process.stdout.write(output)
process.exit(Math.max(...results.map(({ code }) => code)))
