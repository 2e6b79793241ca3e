import type { AerospikeClient, ClientError } from './aerospike-client.js'
import { infoError } from './info-errors.js'

/** A truncation leaves what was written in the same millisecond. A timer may fire a millisecond early. */
const TICK_MS = 2

/** Deletes all records of a set at once, those acknowledged just now included. */
export async function truncateSet(
  client: AerospikeClient,
  { name: className, namespace, set }: { readonly name: string; readonly namespace: string; readonly set: string },
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, TICK_MS))
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
