import type { Database } from 'skein'

/** Bins of the record, or undefined. */
export async function storedBins(
  { client }: Database,
  namespace: string,
  set: string,
  key: string | number,
): Promise<{ [bin: string]: unknown } | undefined> {
  try {
    return (await client.get({ ns: namespace, set, key })).bins
  } catch {
    return undefined
  }
}
