import type { Database, EntityClass } from 'skein'
import { emptySets } from './empty-sets.js'
import { needMode, type Mode, type TestServer } from './server.js'
import { sharedServer } from './shared-server.js'

export interface OpenedDatabase {
  readonly db: Database
  readonly server: TestServer
  readonly namespace: string
}

/**
 * Gives the suite around it a database on the shared server, with the indexes its classes need, and empties their sets before each test.
 * Where the server has no namespace of that mode, the suite is skipped.
 *
 * @example
 * let db: Database
 * useDatabase(mode, [Agent, Listing], (opened) => ({ db } = opened))
 */
export function useDatabase(mode: Mode, classes: readonly EntityClass[], take: (opened: OpenedDatabase) => void): void {
  let db: Database | undefined
  before(async function () {
    const server = await sharedServer()
    const namespace = needMode(this, server, mode)
    db = await server.open({ namespace, entities: classes })
    await db.indexes.sync()
    take({ db, server, namespace })
  })
  after(() => db?.close())
  beforeEach(() => emptySets(db!, classes))
}
