import { types } from 'node:util'
import { entriesOf } from '../../plan/value-order.js'
import { isDouble, isGeo, type Value } from '../../plan/value.js'

/** Identity of a stored value: two values have the same token when the server finds them equal. */
export type Token = string | number | boolean | null

/** Strings cannot hold NUL, so the token of a value that is not plain starts with it. */
export function tokenOf(stored: Value): Token {
  if (typeof stored === 'number' && !Number.isInteger(stored)) return `\0d${stored}`
  if (typeof stored === 'bigint') return Number.isSafeInteger(Number(stored)) ? Number(stored) : `\0n${stored}`
  if (typeof stored !== 'object' || stored === null) return stored
  if (isDouble(stored)) return `\0d${stored.value}`
  if (types.isUint8Array(stored)) return `\0b${Buffer.from(stored).toString('hex')}`
  if (isGeo(stored)) return `\0g${stored.json}`
  if (Array.isArray(stored)) return `\0l${JSON.stringify((stored as readonly Value[]).map(tokenOf))}`
  const entries = entriesOf(stored).map(([key, value]) => JSON.stringify([tokenOf(key), tokenOf(value)]))
  return `\0m${entries.sort().join()}`
}
