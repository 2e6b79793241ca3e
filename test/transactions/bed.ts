import { type Database, type OpenOptions } from 'skein'
import type { EmbeddedServer, Fault, FaultOptions } from 'skein/embedded'
import { commandWords } from '../command-words.js'
import { Agent, Listing, User } from '../relations/models.js'
import { need, needMode, type Mode, type TestServer } from '../server.js'
import { Person } from '../session/models.js'
import { sharedServer } from '../shared-server.js'

export const CLASSES = [Agent, Listing, User, Person]

let last = Date.now() * 1000

/** The server of the tests, in a namespace of one mode. */
export class Bed {
  readonly server: TestServer
  readonly #mode: Mode
  readonly #open: Database[] = []
  readonly #faults: Fault[] = []

  private constructor(server: TestServer, mode: Mode) {
    this.server = server
    this.#mode = mode
  }

  /** Skips the suite where the server has no such namespace. */
  static async start(context: Mocha.Context, mode: Mode = 'sc'): Promise<Bed> {
    const server = await sharedServer()
    needMode(context, server, mode)
    return new Bed(server, mode)
  }

  async open(options: Partial<OpenOptions> = {}): Promise<Database> {
    const db = await this.server.open({ namespace: this.server[this.#mode]!, entities: CLASSES, ...options })
    this.#open.push(db)
    return db
  }

  /** A number that no earlier test or run used as a key. */
  fresh(): number {
    return ++last
  }

  embedded(context: Mocha.Context, why: string): EmbeddedServer {
    return need(context, this.server.embedded, `only the embedded server ${why}`)
  }

  async disturb(context: Mocha.Context, options: FaultOptions): Promise<Fault> {
    const fault = await this.embedded(context, 'fails on demand').faults.add(options)
    this.#faults.push(fault)
    return fault
  }

  /** Takes all faults away and says how often each was met. */
  async calm(): Promise<number[]> {
    const hits = await Promise.all(this.#faults.splice(0).map((fault) => fault.hits()))
    await this.server.embedded?.faults.clear()
    return hits
  }

  /** Lists a word for each request of a piece of work. */
  commandsOf(work: () => Promise<unknown>): Promise<string[]> {
    return commandWords(this.server, work)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#open.map((db) => db.close()))
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
