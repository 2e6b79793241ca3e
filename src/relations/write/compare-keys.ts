import type { UserKey } from '../../plan/record-key.js'

/** The order in which the server keeps keys of one kind: numbers by size, text and bytes by their bytes. */
export function compareKeys(a: UserKey, b: UserKey): number {
  if (typeof a === 'string' || typeof b === 'string')
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
  if (a instanceof Uint8Array || b instanceof Uint8Array) return Buffer.compare(a as Uint8Array, b as Uint8Array)
  return a < b ? -1 : a > b ? 1 : 0
}

/** Keys of several lists in one order, each once. */
export function mergeKeys(lists: readonly (readonly UserKey[])[]): UserKey[] {
  const all = lists.flat().sort(compareKeys)
  return all.filter((key, i) => i === 0 || compareKeys(all[i - 1], key) !== 0)
}
