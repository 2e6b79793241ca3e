import { open, type Database, type OpenOptions } from 'skein'
import type { EmbeddedServer, Fault, FaultOptions } from 'skein/embedded'
import { startEmbedded } from 'skein/embedded'
import { Agent, Listing, User } from '../relations/models.js'
import { Person } from '../session/models.js'

export const CLASSES = [Agent, Listing, User, Person]

/** One embedded server with a strongly consistent namespace `test` and an available one `cache`; `more` is a second strong one. */
export class Bed {
  readonly server: EmbeddedServer
  readonly #open: Database[] = []
  readonly #faults: Fault[] = []
  #last = 0

  private constructor(server: EmbeddedServer) {
    this.server = server
  }

  static async start(): Promise<Bed> {
    return new Bed(await startEmbedded({ namespaces: ['test:sc', 'cache:ap', 'more:sc'] }))
  }

  async open(namespace: 'test' | 'cache' = 'test', options: Partial<OpenOptions> = {}): Promise<Database> {
    const db = await open({ hosts: this.server.hosts, namespace, entities: CLASSES, ...options })
    this.#open.push(db)
    return db
  }

  /** A number that no earlier test used as a key. */
  fresh(): number {
    return ++this.#last
  }

  async disturb(options: FaultOptions): Promise<Fault> {
    const fault = await this.server.faults.add(options)
    this.#faults.push(fault)
    return fault
  }

  /** Takes all faults away and says how often each was met. */
  async calm(): Promise<number[]> {
    const hits = await Promise.all(this.#faults.splice(0).map((fault) => fault.hits()))
    await this.server.faults.clear()
    return hits
  }

  /** One word for each request of a piece of work. */
  async commandsOf(work: () => Promise<unknown>): Promise<string[]> {
    const { log } = await this.server.commands.during(work)
    return log.map(({ kind, rows }) => (rows > 1 ? `${kind}×${rows}` : kind))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#open.map((db) => db.close()))
    await this.server.stop()
  }
}

export async function rejection<E = Error>(work: Promise<unknown>): Promise<E> {
  return work.then(
    () => {
      throw new Error('It was expected to fail, but did not.')
    },
    (error: unknown) => error as E,
  )
}
