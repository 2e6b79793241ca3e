import { SkeinError } from '../errors/index.js'
import type { AerospikeClient, ClientError } from './aerospike-client.js'
import { isPermission } from './status.js'

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
    const error = thrown as ClientError
    error.command = 'truncate'
    const isForbidden = isPermission(error.code)
    throw new SkeinError(
      isForbidden ? 'SKEIN_4207' : 'SKEIN_4204',
      `The set '${set}' of ${className} could not be emptied (code ${error.code}: ${error.message}).`,
      {
        className,
        namespace,
        set,
        cause: error,
        fix: isForbidden
          ? 'Grant the user the role it needs.'
          : 'The code is explained in docs/reference/errors.md; try again when the server can be reached.',
      },
    )
  }
}
