import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'

/** Runs one of the programs as a process of its own, checks that it ends by itself, and gives what it printed. */
export async function runProgram(name: string, args: readonly string[]): Promise<string> {
  const child = fork(new URL(`./programs/${name}.js`, import.meta.url), args, { stdio: 'pipe' })
  let output = ''
  child.stdout?.on('data', (data) => (output += String(data)))
  child.stderr?.on('data', (data) => (output += String(data)))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect({ code, signal, output: code === 0 ? '' : output }).to.deep.equal({ code: 0, signal: null, output: '' })
  return output.trim()
}
