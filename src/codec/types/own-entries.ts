import { types } from 'node:util'
import type { Value } from '../../plan/value.js'

/**
 * A map as the client gives it, with a prototype of its own making taken away: the client assigns a key called `__proto__`, which another
 * program may have stored, and so makes its value the prototype.
 */
export function ownEntries<T extends object>(stored: T): T {
  return Object.getPrototypeOf(stored) === Object.prototype ? stored : { ...stored }
}

/** Applies `ownEntries` to all maps inside a value. */
export function ownEntriesWithin(stored: Value): Value {
  if (typeof stored !== 'object' || stored === null || types.isUint8Array(stored) || types.isMap(stored)) return stored
  if (Array.isArray(stored)) {
    const list = stored as Value[]
    for (let i = 0; i < list.length; i++) list[i] = ownEntriesWithin(list[i])
    return list
  }
  const map = ownEntries(stored) as Record<string, Value>
  for (const name of Object.keys(map)) {
    const item = map[name]
    if (typeof item === 'object' && item !== null) map[name] = ownEntriesWithin(item)
  }
  return map
}
