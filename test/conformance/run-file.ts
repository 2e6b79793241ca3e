import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startEmbedded } from 'skein/embedded'
import type { SuiteFile } from './suite-files.js'

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const TEST_TIMEOUT_MS = 20_000
const FILE_TIMEOUT_MS = 300_000

export interface Failure {
  readonly title: string
  readonly message: string
}

export interface FileResult {
  readonly file: SuiteFile
  readonly passing: number
  readonly pending: number
  readonly failures: readonly Failure[]
}

/** What we read of mocha's JSON report. */
interface Report {
  readonly stats: { readonly passes: number; readonly pending: number }
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

/** Runs one file of the compiled suite in a process of its own, against a server of its own. */
export async function runFile(file: SuiteFile, tests: string): Promise<FileResult> {
  const server = await startEmbedded({ namespaces: [file.namespace] })
  try {
    const reportPath = join(tests, `${file.name}.report.json`)
    const strong = file.namespace.mode === 'sc' ? ' --testStrongConsistency --testMRT' : ''
    const ended = await runMocha(join(tests, `${file.name}.js`), reportPath, {
      OPTIONS: `--host ${server.host} --port ${server.port} --namespace ${file.namespace.name}${strong}`,
    })
    return await readReport(file, reportPath, ended)
  } finally {
    await server.stop()
  }
}

function runMocha(path: string, reportPath: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(
    process.execPath,
    [MOCHA, '--no-config', '--no-package', '--exit', '--timeout', String(TEST_TIMEOUT_MS)].concat(
      ['--reporter', 'json', '--reporter-option', `output=${reportPath}`],
      path,
    ),
    { cwd: dirname(dirname(path)), env: { ...process.env, ...env }, stdio: 'ignore', timeout: FILE_TIMEOUT_MS },
  )
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `exit code ${code}`))
  })
}

/** A process that crashed leaves no report: everything it should have passed counts as failing. */
async function readReport(file: SuiteFile, path: string, ended: string): Promise<FileResult> {
  let report: Report
  try {
    report = JSON.parse(await readFile(path, 'utf8')) as Report
  } catch {
    const failures = [{ title: file.name, message: `the test process left no report (${ended})` }]
    return { file, passing: 0, pending: 0, failures }
  }
  const failures = report.failures.map(({ fullTitle, err }) => ({ title: fullTitle, message: err.message ?? '' }))
  return { file, passing: report.stats.passes, pending: report.stats.pending, failures }
}
