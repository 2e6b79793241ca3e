import { open, type Database, type EntityClass } from 'skein'
import { startEmbedded, type EmbeddedServer, type FaultOptions } from 'skein/embedded'
import { isNamedServer, PATIENT, type Mode } from '../server.js'
import { emptySets } from '../empty-sets.js'

const FAULTS: { readonly [title: string]: FaultOptions } = {
  'an error': { answer: 4 },
  'a lost answer': { drop: true, after: true },
  'a death of the process before it': { drop: true, times: 1_000_000 },
  'a death of the process after it': { drop: true, after: true, times: 1_000_000 },
}

/** Every fault at every command takes a minute: by default it is two of them at each, and all in turn. */
const faultsAt = (turn: number): [string, FaultOptions][] =>
  Object.entries(FAULTS).filter((_, i) => process.env.SKEIN_FAULTS === 'all' || i % 2 === turn % 2)

/** Piece of work that is disturbed at each of its commands. */
export interface Disturbed {
  readonly prepare: (db: Database) => Promise<unknown>
  /** The work, with a database that gives up soon. */
  readonly work: (db: Database) => Promise<unknown>
  /** Set where commands are spared by what the run before has learnt: the last of them may not come. */
  readonly isLearning?: boolean
  /** Called when faults are over; `error` is that of the work, undefined where it succeeded all the same. */
  readonly check: (db: Database, error: unknown, where: string) => Promise<unknown>
}

/** Server of its own for a suite that disturbs each command, with a patient database and one that gives up soon. */
export class FaultyServer {
  #server: EmbeddedServer | undefined
  #patient: Database | undefined
  #hasty: Database | undefined
  readonly #classes: readonly EntityClass[]

  private constructor(classes: readonly EntityClass[]) {
    this.#classes = classes
  }

  /** For the suite around it. The namespaces `ap` and `sc` are what they are called, and each has another beside it. */
  static use(mode: Mode, classes: readonly EntityClass[]): FaultyServer {
    const faulty = new FaultyServer(classes)
    before(async function () {
      if (isNamedServer) this.skip()
      await faulty.#start(mode)
    })
    after(() => faulty.#stop())
    return faulty
  }

  async #start(mode: Mode): Promise<void> {
    this.#server = await startEmbedded({ namespaces: [`${mode}:${mode}`, `cold:${mode}`] })
    const options = { hosts: this.#server.hosts, namespace: mode, entities: this.#classes, ...PATIENT }
    this.#patient = await open(options)
    await this.#patient.indexes.sync()
    const retry = { attempts: 2, deadline: 40, backoff: 1 }
    this.#hasty = await open({ ...options, retry })
  }

  async #stop(): Promise<void> {
    await this.#patient?.close()
    await this.#hasty?.close()
    await this.#server?.stop()
  }

  /** Repeats the work with each fault at each of its commands; returns how many commands there are. */
  async disturb({ prepare, work, check, isLearning }: Disturbed): Promise<number> {
    const [db, hasty, { faults, clock }] = [this.#patient!, this.#hasty!, this.#server!]
    const run = async (fault: FaultOptions): Promise<{ hits: number; error: unknown }> => {
      await emptySets(db, this.#classes)
      await prepare(db)
      const met = await faults.add(fault)
      const error: unknown = await work(hasty).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const hits = await met.hits()
      await faults.clear()
      // A transaction that was cut off holds its records until it expires.
      await clock.advance(30)
      return { hits, error }
    }
    // Sharded counters choose another companion each time, and records are sent in other groups then.
    const counts: number[] = []
    for (let i = 0; i < 2; i++) {
      const { hits, error: without } = await run({ delay: 0, times: Infinity })
      if (without !== undefined) throw new Error('It fails without a fault.', { cause: without })
      counts.push(hits)
    }
    const count = Math.max(...counts)
    for (let skip = 0; skip < count; skip++)
      for (const [title, fault] of faultsAt(skip)) {
        const { hits, error } = await run({ ...fault, skip })
        if (hits === 0 && (skip >= Math.min(...counts) || (isLearning === true && skip > count / 2))) continue
        if (hits === 0) throw new Error(`Nothing met ${title} at command ${skip}.`)
        await check(db, error, `${title} at command ${skip}`)
      }
    return count
  }
}
