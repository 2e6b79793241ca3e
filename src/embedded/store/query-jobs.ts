/** Number of background queries that are remembered after they have ended. */
const MAX_ENDED = 100

/** A background query and how far it is. */
export interface QueryJob {
  readonly id: string
  readonly namespace: string
  readonly setName: string
  done: boolean
  /** True once its node is gone: it changes nothing more. */
  isStopped: boolean
  /** Percent of the way. */
  progress: number
  succeeded: number
  failed: number
  /** Records that the filter held back. */
  filtered: number
}

/** Background queries that run and the newest of those that have ended, by the id that the client gave them. */
export class QueryJobs {
  readonly #byId = new Map<string, QueryJob>()

  add(taskId: Buffer | undefined, namespace: string, setName: string): QueryJob {
    const id = taskId?.length === 8 ? String(taskId.readBigUInt64BE()) : '0'
    const state = { done: false, isStopped: false, progress: 0, succeeded: 0, failed: 0, filtered: 0 }
    const job: QueryJob = { id, namespace, setName, ...state }
    this.#byId.set(id, job)
    this.#forgetOldest()
    return job
  }

  get(id: string): QueryJob | undefined {
    return this.#byId.get(id)
  }

  all(): QueryJob[] {
    return [...this.#byId.values()]
  }

  /** Stops and forgets all of them, as a process that ends does. */
  stop(): void {
    for (const job of this.#byId.values()) job.isStopped = true
    this.#byId.clear()
  }

  #forgetOldest(): void {
    const ended = this.all().filter(({ done }) => done)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#byId.delete(id)
  }
}
