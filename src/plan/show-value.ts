import { isDouble, isGeo, type Value } from './value.js'

const LONGEST = 60

/** A value as people read it, on one line and not too long. */
export function showValue(value: Value | undefined): string {
  const text = fullText(value)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}… (${text.length} characters)`
}

export function showValues(values: readonly Value[]): string {
  if (values.length <= 3) return values.map(showValue).join(', ')
  return `${values.slice(0, 3).map(showValue).join(', ')}, … (${values.length} in all)`
}

function fullText(value: Value | undefined): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object') return String(value)
  if (isDouble(value)) return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value)
  if (isGeo(value)) return value.json
  if (value instanceof Uint8Array) return `<${value.byteLength} bytes>`
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(fullText).join(', ')}]`
  const pairs =
    value instanceof Map ? [...(value as Map<Value, Value>)] : Object.entries(value as Record<string, Value>)
  return `{${pairs.map(([key, item]) => `${fullText(key)}: ${fullText(item)}`).join(', ')}}`
}

/** The value as JSON can hold it, without losing what kind of value it is. */
export function jsonValue(value: Value | undefined): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return { $integer: String(value) }
  if (typeof value !== 'object')
    return typeof value === 'number' && !Number.isFinite(value) ? { $double: String(value) } : value
  if (isDouble(value)) return { $double: Number.isFinite(value.value) ? value.value : String(value.value) }
  if (isGeo(value)) return { $geo: value.json }
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return (value as readonly Value[]).map(jsonValue)
  if (value instanceof Map) return { $map: [...(value as Map<Value, Value>)].map((pair) => pair.map(jsonValue)) }
  return Object.fromEntries(Object.entries(value as Record<string, Value>).map(([key, item]) => [key, jsonValue(item)]))
}
