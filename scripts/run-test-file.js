// Runs the compiled form of the test files that are named by their sources.
// Usage: npm run test:file -- test/session/database/open.test.ts [mocha options]
import { spawnSync } from 'node:child_process'

const args = process.argv.slice(2).map((arg) => arg.replace(/^(?:\.\/)?((?:test|examples)\/.*)\.ts$/, '.build/$1.js'))
if (args.length === 0) throw new Error('Name a test file: npm run test:file -- test/session/database/open.test.ts')
process.exit(
  spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', ...args], { stdio: 'inherit' }).status ?? 1,
)
