import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** Types are not checked: the suite's own fight with those of the packages around it. */
const COMPILER_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.CommonJS,
  esModuleInterop: true,
  allowJs: true,
  rewriteRelativeImportExtensions: true,
}

/** Copies the client's suite to a folder and compiles it there; returns where the compiled tests are. */
export async function prepareSuite(folder: string): Promise<string> {
  const client = dirname(createRequire(import.meta.url).resolve('aerospike/package.json'))
  const tests = join(folder, 'test')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await cp(join(client, 'test'), tests, { recursive: true })
  // The tests load the client from ../lib, and some run a child process that loads it from the working folder.
  await symlink(join(client, 'lib'), join(folder, 'lib'), 'junction')
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs', main: 'lib/aerospike.js' }))
  await compileFolder(tests)
  return tests
}

async function compileFolder(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && /\.[jt]s$/.test(entry.name) && !entry.name.endsWith('.d.ts')) await compileFile(path)
  }
}

async function compileFile(path: string): Promise<void> {
  const source = await readFile(path, 'utf8')
  const { outputText } = ts.transpileModule(source, { fileName: path, compilerOptions: COMPILER_OPTIONS })
  await writeFile(path.replace(/\.ts$/, '.js'), outputText)
}
