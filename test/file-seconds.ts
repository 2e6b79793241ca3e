// Writes down how long each file of tests takes, for scripts/run-tests.js to deal the files out.
// Usage, on a quiet machine: node scripts/run-tests.js --require ./.build/test/file-seconds.js
import { readFileSync, writeFileSync } from 'node:fs'

const SECONDS = 'scripts/test-seconds.json'
const times = new Map<string, number>()
let since = Date.now()

export const mochaHooks: Mocha.RootHookObject = {
  afterEach(this: Mocha.Context) {
    const now = Date.now()
    const source = this.currentTest!.file!.replace(/^.*\.build\//, '').replace(/\.js$/, '.ts')
    times.set(source, (times.get(source) ?? 0) + now - since)
    since = now
  },
  afterAll: writeTimes,
}

/** Keeps what other processes wrote; files that take two seconds or less are left to a guess. */
function writeTimes(): void {
  const known = new Map(Object.entries(JSON.parse(readFileSync(SECONDS, 'utf8')) as Record<string, number>))
  for (const [source, time] of times) {
    const seconds = Math.round(time / 1000)
    if (seconds > 2) known.set(source, seconds)
    else known.delete(source)
  }
  const sorted = Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(SECONDS, `${JSON.stringify(sorted, null, 2)}\n`)
}
