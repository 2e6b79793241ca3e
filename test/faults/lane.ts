import { open, type Database, type Session } from 'skein'
import { startEmbedded, type EmbeddedServer, type FaultOptions } from 'skein/embedded'
import { isNamedServer, MODES, PATIENT, type Mode } from '../server.js'
import { CLASSES, type Case } from './families.js'
import { handedOut } from './handed-out.js'
import { World } from './world.js'

/** An operation that is about to be sent. */
export interface Begun {
  readonly world: World
  readonly session: Session
  /** Entities that the session has handed out, or `persist` has taken. */
  readonly entities: ReadonlySet<object>
}

type Databases = ReadonlyMap<Mode, { readonly patient: Database; readonly hasty: Database }>

/** A server of its own for cases that run one after another: faults and the clock belong to one case at a time. */
export class Lane {
  readonly server: EmbeddedServer
  readonly #databases: Databases
  #cases = 0

  private constructor(server: EmbeddedServer, databases: Databases) {
    this.server = server
    this.#databases = databases
  }

  static async start(nodes = 1): Promise<Lane> {
    // A namespace is called what it is.
    const server = await startEmbedded({ nodes, namespaces: MODES.map((mode) => `${mode}:${mode}`) })
    const opened = MODES.map(async (mode) => {
      const patient = await open({ hosts: server.hosts, namespace: mode, entities: CLASSES, ...WATCHFUL, ...PATIENT })
      await patient.indexes.sync()
      return [mode, { patient, hasty: await openHasty(server, mode, nodes) }] as const
    })
    return new Lane(server, new Map(await Promise.all(opened)))
  }

  /** Resolves when every client knows of all nodes again. */
  async whole(): Promise<void> {
    const clients = [...this.#databases.values()].flatMap(({ patient, hasty }) => [patient.client, hasty.client])
    while (clients.some((client) => client.getNodes().length < this.server.nodes.length))
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async begin({ family, operation }: Case, mode: Mode): Promise<Begun> {
    const { patient, hasty } = this.#databases.get(mode)!
    const world = new World(patient, family, ++this.#cases)
    const first = patient.session()
    operation.prepare(first, world)
    await first.flush({ transactions: 'off' })
    const session = hasty.session()
    const entities = handedOut(session)
    await operation.change(session, world)
    return { world, session, entities }
  }

  /** Runs the work with a fault in place; says how many commands met it. */
  async disturb(fault: FaultOptions, work: () => Promise<unknown>): Promise<number> {
    const set = await this.server.faults.add(fault)
    await work()
    const hits = await set.hits()
    await this.server.faults.clear()
    return hits
  }

  async stop(): Promise<void> {
    for (const { patient, hasty } of this.#databases.values()) {
      await patient.close()
      await hasty.close()
    }
    await this.server.stop()
  }
}

/** The client looks after its cluster often, so that nobody waits for it to notice a node. */
const WATCHFUL = { tenderInterval: 250 }
/** A frozen node is given up after this. */
const TIMES = { socketTimeout: 400, totalTimeout: 800 }
const SHORT = Object.fromEntries(
  ['read', 'batch', 'write', 'operate', 'remove', 'batchParentWrite', 'query'].map((kind) => [kind, TIMES]),
)

// Gives up soon, so that being cut off takes no time.
function openHasty({ hosts }: EmbeddedServer, namespace: string, nodes: number): Promise<Database> {
  const policies = nodes === 1 ? PATIENT.policies : SHORT
  return open({
    hosts,
    namespace,
    entities: CLASSES,
    ...WATCHFUL,
    ...PATIENT,
    policies,
    retry: { attempts: 2, deadline: 40, backoff: 1 },
  })
}

/** Starts lanes for the suite it is called in, and runs the jobs there side by side; gives the results once they have begun. */
export function useLanes<J>(
  jobs: readonly J[],
  run: (job: J, lane: Lane) => Promise<void>,
  size: { readonly lanes: number; readonly nodes?: number },
): () => ReadonlyMap<J, Promise<void>> {
  let lanes: Lane[] = []
  let results = new Map<J, Promise<void>>()
  before(async function () {
    if (isNamedServer) this.skip()
    lanes = await Promise.all(Array.from({ length: size.lanes }, () => Lane.start(size.nodes)))
    results = runInLanes(jobs, lanes, run)
  })
  after(async () => {
    await Promise.allSettled(results.values())
    await Promise.all(lanes.map((lane) => lane.stop()))
  })
  return () => results
}

/** Runs all jobs, as many at a time as there are lanes, and gives a promise for each. */
function runInLanes<J>(
  jobs: readonly J[],
  lanes: readonly Lane[],
  run: (job: J, lane: Lane) => Promise<void>,
): Map<J, Promise<void>> {
  const settle = new Map<J, { resolve: () => void; reject: (error: unknown) => void }>()
  const results = new Map(
    jobs.map((job) => {
      const result = new Promise<void>((resolve, reject) => settle.set(job, { resolve, reject }))
      // Handles the rejection here; callers that await the promise still see the error.
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
