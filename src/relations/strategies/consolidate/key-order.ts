import type { MapKey } from '../../../plan/value.js'

/** The order in which the server keeps the keys of a map. All keys of one map are of one kind. */
export function compareKeys(a: MapKey, b: MapKey): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

/** By UTF-8 bytes, which is by code points; JavaScript compares UTF-16 units, where surrogates come too early. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
