import Aerospike from 'aerospike'
import type { Database } from 'skein'
import type { Mode } from './server.js'

/** Seconds by which tests have moved the clock of the shared server: the client counts by its own clock how long a record has to live. */
export async function clockAhead({ client }: Database, namespace: string, mode: Mode): Promise<number> {
  const key = new Aerospike.Key(namespace, 'clock', 1)
  await client.put(key, { a: 1 }, { ttl: 1000 })
  const { ttl } = await client.get(key)
  await client.remove(key, new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' }))
  return ttl - 1000
}
