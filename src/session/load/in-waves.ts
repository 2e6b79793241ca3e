import { userKeyId, type RecordKey } from '../../plan/record-key.js'

/** Records that one call reads at a time, in full batches: what waits for its turn takes no memory, and no time-out runs for it. */
export const MOST_AT_ONCE = 39 * 256

/** Reads the records of one set in the order of the keys, so many at a time and each of them once. */
export async function readInWaves<T>(
  keys: readonly RecordKey[],
  readWave: (keys: readonly RecordKey[]) => Promise<readonly T[]>,
  signal?: AbortSignal,
): Promise<T[]> {
  const places = new Map<string, number>()
  const distinct: RecordKey[] = []
  const placeOf = keys.map((key) => {
    const id = userKeyId(key.key)
    const known = places.get(id)
    if (known !== undefined) return known
    places.set(id, distinct.length)
    return distinct.push(key) - 1
  })
  const found = await eachWave(distinct, readWave, signal)
  return placeOf.map((place) => found[place])
}

/** Hands over so many at a time, and collects the answers. */
export async function eachWave<K, T>(
  all: readonly K[],
  readWave: (some: readonly K[]) => Promise<readonly T[]>,
  signal?: AbortSignal,
): Promise<T[]> {
  const found: T[] = []
  for (let i = 0; i < all.length; i += MOST_AT_ONCE) {
    signal?.throwIfAborted()
    for (const one of await readWave(all.slice(i, i + MOST_AT_ONCE))) found.push(one)
  }
  return found
}
