import type { AerospikeClient, ClientError } from './aerospike-client.js'
import { infoError } from './info-errors.js'

/** A truncation leaves what was written in the same millisecond. A timer may fire a millisecond early. */
const TICK_MS = 2

/** Deletes all records of these sets at once, those acknowledged just now included. */
export async function truncateSets(
  client: AerospikeClient,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  sets: readonly string[],
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  const ends = await Promise.allSettled(sets.map((set) => truncateSet(client, name, namespace, set)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

async function truncateSet(client: AerospikeClient, className: string, namespace: string, set: string): Promise<void> {
  try {
    await client.truncate(namespace, set, 0)
  } catch (thrown) {
    throw infoError(`The set '${set}' of ${className} could not be emptied`, thrown as ClientError, {
      className,
      namespace,
      set,
    })
  }
}
