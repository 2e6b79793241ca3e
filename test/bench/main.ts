import 'reflect-metadata'
import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { isWithinBudget, type BenchResult, type BenchSuite } from './bench.js'

/** `npm run bench [-- --json] [suite …]`: runs every suite of this folder, or the named ones; exit code 1 when a budget is missed. */
async function main(args: readonly string[]): Promise<void> {
  const isJson = args.includes('--json')
  const wanted = args.filter((arg) => !arg.startsWith('--'))
  const files = (await readdir(import.meta.dirname)).filter(
    (file) => file.endsWith('.js') && file !== basename(import.meta.filename),
  )
  const results: BenchResult[] = []
  for (const file of files.sort()) {
    if (wanted.length > 0 && !wanted.includes(basename(file, '.js'))) continue
    const { default: suite } = (await import(`./${file}`)) as { readonly default?: BenchSuite }
    if (!suite) continue
    if (!isJson) console.log(`\n${suite.name}`)
    for (const result of await suite.run()) {
      results.push(result)
      if (!isJson) console.log(lineOf(result))
    }
  }
  if (isJson)
    console.log(JSON.stringify(Object.fromEntries(results.map((result) => [result.name, summaryOf(result)])), null, 2))
  if (!results.every(isWithinBudget)) process.exitCode = 1
}

function lineOf(result: BenchResult): string {
  const { name, ratio, budget, of } = result
  const limit = budget === undefined ? '' : 'atMost' in budget ? `≤ ${budget.atMost}` : `≥ ${budget.atLeast}`
  const verdict = budget === undefined ? '' : isWithinBudget(result) ? 'ok' : 'MISSED'
  return `  ${name.padEnd(42)} ${ratio.toFixed(2).padStart(9)}  ${limit.padEnd(8)} ${verdict.padEnd(7)} ${of}`
}

function summaryOf(result: BenchResult): object {
  const { ratio, budget } = result
  const limit = budget === undefined ? null : 'atMost' in budget ? budget.atMost : budget.atLeast
  return { ratio: Number(ratio.toPrecision(4)), budget: limit, ok: isWithinBudget(result) }
}

await main(process.argv.slice(2))
