import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from 'skein/embedded'
import type { SuiteFile } from './suite-files.js'

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const SET_UP = fileURLToPath(new URL('./suite-set-up.js', import.meta.url))
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
  /** Number of times that the client brought its process down. */
  readonly crashes: number
}

/** The fields we read of mocha's JSON report. */
interface Report {
  readonly stats: { readonly passes: number; readonly pending: number }
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

/**
 * Runs one file of the compiled suite in a process of its own, against a server of its own. The suite closes clients
 * that have commands under way, which now and then crashes them; such a file gets a second chance.
 */
export async function runFile(file: SuiteFile, tests: string): Promise<FileResult> {
  const first = await tryFile(file, tests)
  if (typeof first !== 'string') return { file, crashes: 0, ...first }
  const second = await tryFile(file, tests)
  if (typeof second !== 'string') return { file, crashes: 1, ...second }
  const failures = [{ title: file.name, message: `the test process left no report twice (${first}, ${second})` }]
  return { file, crashes: 2, passing: 0, pending: 0, failures }
}

type Counted = Pick<FileResult, 'passing' | 'pending' | 'failures'>

/** Result of the tests, or how the process ended when it left no report. */
async function tryFile(file: SuiteFile, tests: string): Promise<Counted | string> {
  const { namespace, build } = file
  const server = await startEmbedded({ namespaces: [namespace], build })
  try {
    const reportPath = join(tests, `${file.name}.report.json`)
    await rm(reportPath, { force: true })
    const strong = namespace.mode === 'sc' ? ' --testStrongConsistency --testMRT' : ''
    const ended = await runMocha(join(tests, `${file.name}.js`), reportPath, {
      OPTIONS: `--host ${server.host} --port ${server.port} --namespace ${namespace.name}${strong}`,
      // Some files look at the version while they are loaded, before the helper has asked for it.
      AEROSPIKE_VERSION_OVERRIDE: build ?? '8.1.2',
    })
    return (await readReport(reportPath)) ?? ended
  } finally {
    await server.stop()
  }
}

function runMocha(path: string, reportPath: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['--no-config', '--no-package', '--exit', '--timeout', String(TEST_TIMEOUT_MS), '--file', SET_UP]
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${reportPath}`]
  const child = spawn(process.execPath, [MOCHA, ...args, ...reporter, path], {
    cwd: dirname(dirname(path)),
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: FILE_TIMEOUT_MS,
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(signal ? `ended by ${signal}` : `exit code ${code}`))
  })
}

async function readReport(path: string): Promise<Counted | undefined> {
  let report: Report
  try {
    report = JSON.parse(await readFile(path, 'utf8')) as Report
  } catch {
    return undefined
  }
  const failures = report.failures.map(({ fullTitle, err }) => ({ title: fullTitle, message: err.message ?? '' }))
  return { passing: report.stats.passes, pending: report.stats.pending, failures }
}
