import { open, type Database, type Session } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { CLASSES } from './models.js'
import type { Operation } from './operations.js'
import { show, World } from './world.js'

export const NAMESPACE = 'test'

/** An operation that is about to be sent. */
export interface Begun {
  readonly world: World
  readonly session: Session
  /** What is stored before. */
  readonly before: string
}

/** A server of its own for cases that run one after another: faults and the clock belong to one case at a time. */
export class Lane {
  readonly server: EmbeddedServer
  readonly db: Database
  #hasty: Database
  #cases = 0

  private constructor(server: EmbeddedServer, db: Database, hasty: Database) {
    this.server = server
    this.db = db
    this.#hasty = hasty
  }

  static async start(mode: 'sc' | 'ap'): Promise<Lane> {
    const server = await startEmbedded({ namespaces: [`${NAMESPACE}:${mode}`] })
    const db = await open({ hosts: server.hosts, namespace: NAMESPACE, entities: CLASSES })
    return new Lane(server, db, await openHasty(server))
  }

  async begin(operation: Operation): Promise<Begun> {
    const world = new World(this.db, NAMESPACE, ++this.#cases)
    const first = this.db.session()
    operation.prepare(first, world)
    await first.flush()
    const before = show(await world.stored())
    const session = (await this.#impatient()).session()
    await operation.change(session, world)
    return { world, session, before }
  }

  async stop(): Promise<void> {
    await this.db.close()
    await this.#hasty.close()
    await this.server.stop()
  }

  /** The client refuses to talk to a server that has failed it a hundred times in a second, so it is changed now and then. */
  async #impatient(): Promise<Database> {
    if (this.#cases % 3 > 0) return this.#hasty
    await this.#hasty.close()
    return (this.#hasty = await openHasty(this.server))
  }
}

// Gives up soon, so that being cut off takes no time.
function openHasty({ hosts }: EmbeddedServer): Promise<Database> {
  return open({ hosts, namespace: NAMESPACE, entities: CLASSES, retry: { attempts: 2, deadline: 40, backoff: 1 } })
}

/** Runs all jobs, as many at a time as there are lanes, and gives a promise for each. */
export function runInLanes<J>(
  jobs: readonly J[],
  lanes: readonly Lane[],
  run: (job: J, lane: Lane) => Promise<void>,
): Map<J, Promise<void>> {
  const settle = new Map<J, { resolve: () => void; reject: (error: unknown) => void }>()
  const results = new Map(
    jobs.map((job) => {
      const result = new Promise<void>((resolve, reject) => settle.set(job, { resolve, reject }))
      // Whoever asks for it sees the error; until then it is nobody's.
      result.catch(() => undefined)
      return [job, result]
    }),
  )
  const waiting = jobs[Symbol.iterator]()
  for (const lane of lanes) {
    void (async () => {
      for (const job of waiting) await run(job, lane).then(settle.get(job)!.resolve, settle.get(job)!.reject)
    })()
  }
  return results
}
