import type { Database, EntityClass, OpenOptions } from 'skein'
import { emptySets } from './empty-sets.js'
import { needMode, type Mode, type TestServer } from './server.js'
import { sharedServer } from './shared-server.js'

export interface OpenedDatabase {
  readonly db: Database
  readonly server: TestServer
  readonly namespace: string
}

export interface UseOptions {
  /** When the sets of the classes are emptied; `once` is for suites whose tests share what was stored for all of them. */
  readonly emptied?: 'before each test' | 'once'
  readonly limits?: OpenOptions['limits']
}

/**
 * Gives the suite around it a database on the shared server, with the indexes its classes need and with empty sets; where the server has no
 * namespace of that mode, the suite is skipped.
 *
 * @example
 * let db: Database
 * useDatabase(mode, [Agent, Listing], (opened) => ({ db } = opened))
 */
export function useDatabase(
  mode: Mode,
  classes: readonly EntityClass[],
  take: (opened: OpenedDatabase) => void,
  { emptied = 'before each test', limits }: UseOptions = {},
): void {
  let db: Database | undefined
  before(async function () {
    const server = await sharedServer()
    const namespace = needMode(this, server, mode)
    db = await server.open({ namespace, entities: classes, limits })
    await db.indexes.sync()
    take({ db, server, namespace })
  })
  after(() => db?.close())

  const beforeTests = emptied === 'once' ? before : beforeEach
  beforeTests(() => emptySets(db!, classes))
}
