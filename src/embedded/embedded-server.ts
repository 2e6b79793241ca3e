import { Worker } from 'node:worker_threads'
import { SkeinError } from '../errors/index.js'
import { toRule, type FaultOptions } from './faults/fault.js'
import { resolveOptions, type EmbeddedOptions } from './options.js'
import type { CommandSummary } from './server/command-log.js'
import type { Control, ControlCall, ControlReply, NotStarted } from './server/control.js'

/** A fault that was put in place. */
export interface Fault {
  /** How many commands have met it so far. */
  hits(): Promise<number>
  remove(): Promise<void>
}

/** Makes the server misbehave on demand. Each call takes effect before it resolves. */
export interface Faults {
  /**
   * @example
   * await server.faults.add({ kind: 'write', set: 'agent', answer: 14 })             // the next write is told: key busy
   * await server.faults.add({ kind: 'write', skip: 2, drop: true, after: true })     // the third takes effect, its answer is lost
   */
  add(options: FaultOptions): Promise<Fault>
  clear(): Promise<void>
}

/** Requests that the server has seen since it started, or since the last reset. */
export interface Commands {
  summary(): Promise<CommandSummary>
  reset(): Promise<void>
  /** The commands that a piece of work causes. */
  during(work: () => Promise<unknown>): Promise<CommandSummary>
}

export interface EmbeddedServer {
  readonly host: string
  readonly port: number
  /** `host:port`, as the client takes it. */
  readonly hosts: string
  readonly faults: Faults
  readonly commands: Commands
  readonly clock: {
    /** Moves the server's time forward, so that records and transactions expire without waiting. */
    advance(seconds: number): Promise<void>
  }
  /** Ends the server and its thread. Calling it again does nothing. */
  stop(): Promise<void>
}

/**
 * Starts an Aerospike-protocol server in a thread of its own, in memory, on the loopback address. For development and
 * tests; every client can talk to it.
 *
 * @example
 * const server = await startEmbedded({ namespaces: ['test:sc', 'cache:ap'] })
 * const client = await Aerospike.connect({ hosts: server.hosts })
 * …
 * await server.stop()
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const resolved = resolveOptions(options)
  const file = new URL('./server/worker.js', import.meta.url)
  // Without the flags of this process: some of them, such as --input-type, keep a thread from starting.
  const thread = new ServerThread(new Worker(file, { workerData: resolved, execArgv: [] }))
  const port = await thread.ready
  const host = '127.0.0.1'
  return {
    host,
    port,
    hosts: `${host}:${port}`,
    faults: {
      add: async (fault) => {
        const id = await thread.call('addFault', toRule(fault))
        return { hits: () => thread.call('faultHits', id), remove: () => thread.call('removeFault', id) }
      },
      clear: () => thread.call('clearFaults'),
    },
    commands: {
      summary: () => thread.call('commands'),
      reset: () => thread.call('resetCommands'),
      during: async (work) => {
        await thread.call('resetCommands')
        await work()
        return thread.call('commands')
      },
    },
    clock: { advance: (seconds) => thread.call('advanceClock', seconds) },
    stop: () => thread.stop(),
  }
}

/** The system's reason, with what to do about it where that is known. */
function notStarted({ failed, code, port }: NotStarted): SkeinError {
  const cause = Object.assign(new Error(failed), { code })
  const fail = (message: string, fix?: string): SkeinError => new SkeinError('SKEIN_4107', message, { cause, fix })
  if (code === 'EADDRINUSE') return fail(`The port ${port} is in use.`, 'Choose another, or port: 0 for any free one.')
  if (code === 'EACCES') return fail(`The port ${port} may not be used.`, 'Choose one above 1023, or port: 0.')
  return fail(`The embedded server did not start: ${failed}.`)
}

type Result<M extends keyof Control> = Awaited<ReturnType<Control[M]>>

/** The calling side of `Control`. */
class ServerThread {
  readonly ready: Promise<number>
  readonly #worker: Worker
  readonly #pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  #lastId = 0
  #stopped: Promise<void> | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    this.ready = new Promise((resolve, reject) => {
      worker.on('message', (reply: ControlReply) => {
        if ('ready' in reply) resolve(reply.ready)
        else if ('failed' in reply) {
          void worker.terminate()
          reject(notStarted(reply))
        } else this.#settle(reply)
      })
      worker.on('error', (error) => {
        reject(error)
        this.#abandon(error)
      })
      worker.on('exit', () => this.#abandon(new Error('The embedded server has stopped.')))
    })
  }

  call<M extends keyof Control>(method: M, ...args: Parameters<Control[M]>): Promise<Result<M>> {
    if (this.#stopped) return Promise.reject(new Error('The embedded server has stopped.'))
    return this.#send(method, args)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    await this.#send('close', []).catch(() => undefined)
    await this.#worker.terminate()
  }

  #send<M extends keyof Control>(method: M, args: readonly unknown[]): Promise<Result<M>> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      const call: ControlCall = { id, method, args }
      this.#worker.postMessage(call)
    })
  }

  #settle(reply: { id: number; result: unknown }): void {
    this.#pending.get(reply.id)?.resolve(reply.result as never)
    this.#pending.delete(reply.id)
  }

  #abandon(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
