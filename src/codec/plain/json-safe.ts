import { types } from 'node:util'

/** The same data with bigints as strings and bytes as base64: what JSON has no form for. */
export function jsonSafe(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || types.isDate(value)) return value
  if (types.isUint8Array(value)) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(jsonSafe)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, jsonSafe(item)]))
}
