import { dropIndex } from '#src/driver/create-index.js'
import { emptySets } from './empty-sets.js'
import { isNamedServer, type Mode } from './server.js'
import { sharedServer } from './shared-server.js'

/**
 * Empties the sets of an example on the server of `AEROSPIKE_HOSTS`, drops indexes it will create, and tells the mode it will run in. Without that, an example starts
 * an embedded server of its own, whose namespace is strongly consistent.
 */
export async function readyForExample(
  classes: Parameters<typeof emptySets>[1],
  indexes: readonly string[] = [],
): Promise<Mode> {
  if (!isNamedServer) return 'sc'
  const server = await sharedServer()
  const db = await server.open({ namespace: server.namespaces[0], entities: classes })
  await emptySets(db, classes)
  for (const name of indexes) await dropIndex(db.client, server.namespaces[0], name)
  await db.close()
  return server.sc === undefined ? 'ap' : 'sc'
}
