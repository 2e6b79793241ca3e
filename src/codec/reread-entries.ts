import { isDeepStrictEqual } from 'node:util'
import type { TypeCodec } from './type-codec.js'

/**
 * Entries after a write in doubt: as stored where the write has changed them, and otherwise as they were known. What others have changed
 * meanwhile would look like a change of the entity.
 */
export function rereadEntries<K>(
  known: ReadonlyMap<K, unknown>,
  sent: ReadonlyMap<K, unknown>,
  stored: ReadonlyMap<K, unknown>,
  item?: TypeCodec,
): Map<K, unknown> {
  const entries = new Map(known)
  // A part that is new in a map is one value.
  const nothing = item?.isPart === true ? undefined : item?.nothing
  for (const key of new Set([...known.keys(), ...sent.keys()])) {
    const now = rereadItem(item, known.get(key), sent.get(key), stored.get(key), nothing)
    if (now === undefined) entries.delete(key)
    else entries.set(key, now)
  }
  return entries
}

/** Rereads one entry or field; undefined where there is none. */
export function rereadItem(
  item: TypeCodec | undefined,
  known: unknown,
  sent: unknown,
  stored: unknown,
  nothing: unknown = item?.nothing,
): unknown {
  if (isDeepStrictEqual(known, sent)) return known
  const before = known ?? nothing
  const isEach = item?.reread !== undefined && isValue(before) && isValue(sent) && isValue(stored)
  return isEach ? item.reread!(before, sent, stored) : stored
}

const isValue = (snapshot: unknown): boolean => snapshot !== undefined && snapshot !== null
