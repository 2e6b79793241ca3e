import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('.', import.meta.resolve('skein/package.json')))
const run = promisify(execFile)

export function readDoc(page: string): string {
  return readFileSync(path.join(root, 'docs', page), 'utf8')
}

/** Compiles the `ts` examples of a page as one program, strictly, runs it, and returns what it prints. */
export async function runDocProgram(page: string): Promise<string> {
  const source = [...readDoc(page).matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code).join('\n')
  const name = path.basename(page, '.md')
  const folder = path.join(root, '.build/docs', name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${name}.ts`), source)
  const compilerOptions = { rootDir: '.', outDir: 'out', noEmit: false, incremental: false, tsBuildInfoFile: null }
  const config = { extends: '../../../test/tsconfig.json', compilerOptions, files: [`${name}.ts`], include: [] }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(
    (error: { stdout: string }) => {
      throw new Error(`The examples of docs/${page} do not compile:\n${error.stdout}`)
    },
  )
  const { stdout } = await run(process.execPath, [path.join(folder, `out/${name}.js`)])
  return stdout
}
