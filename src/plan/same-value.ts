import { isDouble, isGeo, type Value } from './value.js'

/**
 * Compares a value as sent with one as the client returns it, which loses a few distinctions:
 * maps come back as objects with string keys, doubles as numbers, large integers as BigInt.
 */
export function sameValue(sent: Value, stored: unknown): boolean {
  if (sent === stored) return true
  if (sent === null || stored === null || stored === undefined) return false
  if (typeof sent === 'string') return false
  if (typeof sent === 'number' || typeof sent === 'bigint' || isDouble(sent)) return sameNumber(sent, stored)
  if (isGeo(sent)) return sent.json === stored
  if (sent instanceof Uint8Array) return stored instanceof Uint8Array && Buffer.compare(sent, stored) === 0
  if (Array.isArray(sent)) return sameList(sent as readonly Value[], stored)
  return typeof sent === 'object' && typeof stored === 'object' && sameMap(sent as MapLike, stored)
}

type MapLike = ReadonlyMap<string | number | bigint | Uint8Array, Value> | { readonly [key: string]: Value }

function sameNumber(sent: number | bigint | { readonly value: number }, stored: unknown): boolean {
  const value = typeof sent === 'object' ? sent.value : sent
  if (typeof stored !== 'number' && typeof stored !== 'bigint') return false
  return typeof value === typeof stored
    ? Object.is(value, stored) || value === stored
    : BigInt(value) === BigInt(stored)
}

function sameList(sent: readonly Value[], stored: unknown): boolean {
  return Array.isArray(stored) && stored.length === sent.length && sent.every((item, i) => sameValue(item, stored[i]))
}

function sameMap(sent: MapLike, stored: object): boolean {
  const pairs = sent instanceof Map ? [...(sent as Map<unknown, Value>)] : Object.entries(sent)
  const found: Map<string, unknown> = new Map(
    stored instanceof Map ? [...stored].map(([key, value]) => [keyText(key), value]) : Object.entries(stored),
  )
  return (
    pairs.length === found.size && pairs.every(([key, value]) => sameValue(value as Value, found.get(keyText(key))))
  )
}

function keyText(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('latin1') : String(key)
}
