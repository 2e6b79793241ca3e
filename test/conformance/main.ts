import { fileURLToPath } from 'node:url'
import { prepareSuite } from './prepare-suite.js'
import { printTable } from './print-table.js'
import { runFile } from './run-file.js'
import { SUITE_FILES } from './suite-files.js'
import { judge, type Verdict } from './verdict.js'

// `npm run conformance` runs every file, `npm run conformance -- lists maps` only those.
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !SUITE_FILES.some((file) => file.name === name))
if (unknown.length > 0) {
  console.error(`Not part of the conformance run: ${unknown.join(', ')}. See test/conformance/suite-files.ts.`)
  process.exit(2)
}

const tests = await prepareSuite(fileURLToPath(new URL('../../conformance-suite', import.meta.url)))
const verdicts: Verdict[] = []
for (const file of SUITE_FILES) {
  if (asked.length === 0 || asked.includes(file.name)) verdicts.push(judge(await runFile(file, tests)))
}
console.log(printTable(verdicts))
process.exitCode = verdicts.every((verdict) => verdict.ok) ? 0 : 1
