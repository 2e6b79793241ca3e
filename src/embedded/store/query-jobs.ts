/** Number of background queries that are remembered. */
const MAX_JOBS = 100

/** A background query and how far it is. */
export interface QueryJob {
  readonly id: string
  readonly namespace: string
  readonly setName: string
  done: boolean
  /** Percent of the way. */
  progress: number
  succeeded: number
  failed: number
  /** Records that the filter held back. */
  filtered: number
}

/** The newest background queries, by the id that the client gave them. */
export class QueryJobs {
  readonly #byId = new Map<string, QueryJob>()

  add(taskId: Buffer | undefined, namespace: string, setName: string): QueryJob {
    const id = taskId?.length === 8 ? String(taskId.readBigUInt64BE()) : '0'
    const job: QueryJob = { id, namespace, setName, done: false, progress: 0, succeeded: 0, failed: 0, filtered: 0 }
    this.#byId.set(id, job)
    if (this.#byId.size > MAX_JOBS) this.#byId.delete(this.#byId.keys().next().value!)
    return job
  }

  get(id: string): QueryJob | undefined {
    return this.#byId.get(id)
  }

  all(): QueryJob[] {
    return [...this.#byId.values()]
  }
}
