import type { Worker } from 'node:worker_threads'
import { SkeinError } from '../errors/index.js'
import type { Control, ControlCall, ControlReply, NodeAddress, NotStarted } from './server/control.js'

/** A server that closes at all does so sooner. */
const CLOSE_MILLIS = 500
/** A server that does not answer for so long is stuck; its garbage collector takes less. */
const STUCK_MILLIS = 700

type Result<M extends keyof Control> = Awaited<ReturnType<Control[M]>>

/** The calling side of `Control`. */
export class ServerThread {
  readonly ready: Promise<readonly NodeAddress[]>
  /** Resolves when the thread has ended: with the reason, unless it was stopped. */
  readonly ended: Promise<SkeinError | undefined>
  readonly #worker: Worker
  readonly #pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  #lastId = 0
  #stopped: Promise<void> | undefined
  /** Reason why no call can be answered any more. */
  #failure: SkeinError | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    this.ready = new Promise((resolve, reject) => {
      worker.on('message', (reply: ControlReply) => {
        if ('ready' in reply) resolve(reply.ready)
        else if ('failed' in reply) {
          void worker.terminate()
          reject(notStarted(reply))
        } else if ('unusable' in reply) {
          void worker.terminate()
          reject(new SkeinError('SKEIN_4109', reply.unusable, { fix: reply.fix }))
        } else this.#settle(reply)
      })
      worker.on('error', (error) => {
        this.#failure = endedByItself(error)
        reject(this.#failure)
      })
    })
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        if (this.#stopped === undefined) this.#failure ??= endedByItself(undefined)
        this.#abandon(this.#stopped === undefined ? this.#failure! : hasStopped())
        resolve(this.#stopped === undefined ? this.#failure : undefined)
      })
    })
  }

  call<M extends keyof Control>(method: M, ...args: Parameters<Control[M]>): Promise<Result<M>> {
    if (this.#stopped) return Promise.reject(hasStopped())
    if (this.#failure) return Promise.reject(this.#failure)
    return this.#send(method, args)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#close().then(() => this.#end())
    return this.#stopped
  }

  /** Waits for the last work of the clients, then stops. A server that is stuck stops at once: nobody gets an answer. */
  async stopAfter(work: Promise<void>): Promise<void> {
    let isDone = false
    const done = work.finally(() => (isDone = true))
    const watch = async (): Promise<void> => {
      while (!isDone && !this.#failure) {
        const isStuck = !(await settlesWithin(STUCK_MILLIS, Promise.race([this.#send('ping', []), done])))
        if (isStuck) this.#stopped ??= this.#end()
        if (isStuck || (await settlesWithin(CLOSE_MILLIS, done))) return
      }
    }
    await Promise.all([done, watch()]).finally(() => this.stop())
  }

  async #close(): Promise<void> {
    if (!this.#failure) await settlesWithin(CLOSE_MILLIS, this.#send('close', []))
  }

  /** Ends the thread whatever it is busy with. */
  async #end(): Promise<void> {
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

  #settle(reply: { id: number } & ({ result: unknown } | { refused: string })): void {
    const call = this.#pending.get(reply.id)
    if ('refused' in reply) call?.reject(notDone(reply.refused))
    else call?.resolve(reply.result as never)
    this.#pending.delete(reply.id)
  }

  #abandon(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

/** True when a promise settles in time, whichever way. */
async function settlesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)))
  const settled = (): boolean => true
  const isInTime = await Promise.race([promise.then(settled, settled), late])
  clearTimeout(timer)
  return isInTime
}

const hasStopped = (): SkeinError =>
  new SkeinError('SKEIN_4110', 'The embedded server has stopped.', {
    fix: 'Call its methods before stop(), or start another one.',
  })

/** A node that cannot be started, for instance because its port was taken meanwhile. */
const notDone = (reason: string): SkeinError =>
  new SkeinError('SKEIN_4107', `The embedded server could not do it: ${reason}.`)

function endedByItself(cause: unknown): SkeinError {
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new SkeinError('SKEIN_4108', 'The embedded server ran out of memory and ended.', {
      cause,
      fix: 'Store less in it, or give Node more with --max-old-space-size.',
    })
  }
  const why = message === undefined ? '' : `: ${message.replace(/\.$/, '')}`
  return new SkeinError('SKEIN_4108', `The embedded server ended by itself${why}.`, { cause })
}

/** The system's reason, with what to do about it where that is known. */
function notStarted({ failed, code, port }: NotStarted): SkeinError {
  const cause = Object.assign(new Error(failed), { code })
  const fail = (message: string, fix?: string): SkeinError => new SkeinError('SKEIN_4107', message, { cause, fix })
  if (code === 'EADDRINUSE') return fail(`The port ${port} is in use.`, 'Choose another, or port: 0 for any free one.')
  if (code === 'EACCES') return fail(`The port ${port} may not be used.`, 'Choose one above 1023, or port: 0.')
  return fail(`The embedded server did not start: ${failed}.`)
}
