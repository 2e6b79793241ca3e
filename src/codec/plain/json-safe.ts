import { types } from 'node:util'

/** Copies the data without values that JSON cannot hold: bigints become strings, bytes base64, and undefined is left out. */
export function jsonSafe(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || types.isDate(value)) return value
  if (types.isUint8Array(value)) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(jsonSafe)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([name, item]) => [name, jsonSafe(item)]))
}
