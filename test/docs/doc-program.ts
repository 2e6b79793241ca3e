import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('.', import.meta.resolve('skein/package.json')))
const docs = path.join(root, 'docs')
// Inside the package, so that the built files find it by its own name; a folder for each process, because tests run in several.
const builds = path.join(root, `.build/docs-${process.pid}`)
process.on('exit', () => rmSync(builds, { recursive: true, force: true }))
const run = promisify(execFile)

export function readDoc(page: string): string {
  return readFileSync(path.join(docs, page), 'utf8')
}

/** The `ts` examples of a page as one program; it is one when it begins with what it imports. */
function programOf(page: string): string | undefined {
  const source = [...readDoc(page).matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code).join('\n')
  return source.startsWith('import ') ? source : undefined
}

const nameOf = (page: string): string => page.replace(/\.md$/, '').replace(/\W+/g, '-')

let compiling: Promise<string> | undefined

/** Compiles the programs of all pages together, which takes hardly longer than one; gives the compiler's complaints. */
async function compileAll(): Promise<string> {
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
  mkdirSync(builds, { recursive: true })
  const files: string[] = []
  for (const page of [...pages, '../README.md']) {
    const source = programOf(page)
    if (source === undefined) continue
    files.push(`${nameOf(page)}.ts`)
    writeFileSync(path.join(builds, `${nameOf(page)}.ts`), source)
  }
  const compilerOptions = { rootDir: '.', outDir: 'out', noEmit: false, incremental: false, tsBuildInfoFile: null }
  const config = { extends: '../../test/tsconfig.json', compilerOptions, files, include: [] }
  writeFileSync(path.join(builds, 'tsconfig.json'), JSON.stringify(config))
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  return run(process.execPath, [compiler, '-p', builds], { cwd: builds }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

/** Compiles the `ts` examples of a page as one program, strictly, runs it, and returns what it prints. */
export async function runDocProgram(page: string): Promise<string> {
  compiling ??= compileAll()
  const file = `${nameOf(page)}.ts`
  const complaints = (await compiling)
    .split('\n')
    .filter((line) => line.startsWith(`${file}(`) || line.startsWith('error'))
  if (complaints.length > 0) throw new Error(`The examples of docs/${page} do not compile:\n${complaints.join('\n')}`)
  const { stdout } = await run(process.execPath, [path.join(builds, 'out', file.replace(/ts$/, 'js'))])
  return stdout
}
