import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MANIFEST = import.meta.resolve('skein/package.json')
export const MAIN = fileURLToPath(new URL('./dist/cli/main.js', MANIFEST))
export const { version: VERSION } = JSON.parse(readFileSync(new URL(MANIFEST), 'utf8')) as { version: string }

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** The skein command in a process of its own. */
export class SkeinProcess {
  readonly #child
  #out = ''
  #err = ''
  readonly ended: Promise<Ended>

  constructor(args: readonly string[], { main = MAIN, flags = [] as readonly string[] } = {}) {
    this.#child = spawn(process.execPath, [...flags, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#out += chunk.toString()))
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#err += chunk.toString()))
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      out: this.#out,
      err: this.#err,
    }))
  }

  /** The port it says it listens on. */
  async port(): Promise<number> {
    let ended = false
    void this.ended.then(() => (ended = true))
    for (;;) {
      const said = /^listening on 127\.0\.0\.1:(\d+)$/m.exec(this.#out)
      if (said) return Number(said[1])
      if (ended) throw new Error(`skein ended before it listened: ${this.#err}`)
      await Promise.race([once(this.#child.stdout, 'data'), this.ended])
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

export function skein(...args: string[]): Promise<Ended> {
  return new SkeinProcess(args).ended
}
