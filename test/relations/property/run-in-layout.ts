import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs test files in a process of their own with another layout of their relations, because a process declares its classes once. */
export function runInLayout(layout: string, files: readonly URL[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const mocha = ['--enable-source-maps', 'node_modules/mocha/bin/_mocha', '--reporter', 'dot']
    const child = spawn(process.execPath, [...mocha, ...files.map((file) => fileURLToPath(file))], {
      env: { ...process.env, SKEIN_SHARDED: layout },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
