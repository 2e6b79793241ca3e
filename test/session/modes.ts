import type { Database, OpenOptions } from 'skein'
import { needMode, type TestServer } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { CLASSES } from './models.js'

/** A database that tests of one file share, in one kind of namespace. */
export interface Bed {
  readonly db: Database
  readonly server: TestServer
  readonly namespace: string
  /** A string that no earlier test or run has used as a key. */
  fresh(): string
  /** Modes for integer keys. */
  freshNumber(): number
  /** Another connection to the same records. */
  open(options?: Partial<OpenOptions>): Promise<Database>
}

let lastNumber = Math.floor(Math.random() * 2 ** 40)

/** Runs the tests once in a strongly consistent and once in an available namespace, as far as the server has them. */
export function inEachMode(
  title: string,
  tests: (bed: () => Bed) => void,
  options: Partial<OpenOptions> = {},
  start: () => Promise<TestServer> = sharedServer,
): void {
  for (const mode of ['sc', 'ap'] as const) {
    describe(`${title} (${mode})`, () => {
      let bed: Bed | undefined
      const toClose: Database[] = []
      let stop: (() => Promise<void>) | undefined

      before(async function () {
        const server = await start()
        stop = () => server.stop()
        const namespace = needMode(this, server, mode)
        const connect = async (more: Partial<OpenOptions> = {}): Promise<Database> => {
          const db = await server.open({ namespace, entities: CLASSES, ...options, ...more })
          toClose.push(db)
          return db
        }
        const freshNumber = (): number => ++lastNumber
        bed = {
          db: await connect(),
          server,
          namespace,
          fresh: () => `k${freshNumber()}`,
          freshNumber,
          open: connect,
        }
      })

      after(async () => {
        await Promise.all(toClose.map((db) => db.close()))
        await stop?.()
      })

      tests(() => bed!)
    })
  }
}
