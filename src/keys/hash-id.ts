import { createHash } from 'node:crypto'
import { SkeinError } from '../errors/index.js'
import type { KeyPartValue } from './key-part.js'
import { describeKey, isInt64 } from './key-value.js'

const HASH_BYTES = 16

/**
 * A compact id of fixed size from named parts: the same parts, in any order, always give the same 22 characters.
 * Choose it where a cleartext key would be long or would show what it should not.
 *
 * @example
 * const id = hashId({ tenant: 'acme', email: 'ada@example.org' })
 */
export function hashId(parts: Readonly<Record<string, KeyPartValue>>): string {
  return hashIdBytes(parts).toString('base64url')
}

/** Hashes named parts to 16 bytes, for a key of type 'bytes'. */
export function hashIdBytes(parts: Readonly<Record<string, KeyPartValue>>): Buffer {
  const names = Object.keys(parts).sort()
  if (names.length === 0)
    throw new SkeinError('SKEIN_2102', 'hashId needs at least one part.', { fix: 'Name the parts that make the id.' })
  const hash = createHash('sha256')
  for (const name of names) {
    const text = tagged(name, parts[name])
    // Lengths in front: ('ab', 'c') and ('a', 'bc') are different parts.
    hash.update(`${Buffer.byteLength(name)}:${name}=${Buffer.byteLength(text)}:${text};`)
  }
  return hash.digest().subarray(0, HASH_BYTES)
}

function tagged(name: string, value: unknown): string {
  if (typeof value === 'string') return 's' + value
  if (Number.isSafeInteger(value)) return 'i' + String(value)
  if (typeof value === 'bigint' && isInt64(value)) return 'i' + String(value)
  if (typeof value === 'boolean') return 't' + String(value)
  if (value instanceof Uint8Array) return 'b' + Buffer.from(value).toString('hex')
  if (value instanceof Date && !Number.isNaN(value.getTime())) return 'd' + String(value.getTime())
  throw new SkeinError('SKEIN_2102', `hashId: the part '${name}' is ${describeKey(value)}.`, {
    property: name,
    fix: 'Give a string, integer, bigint, boolean, Date or Buffer.',
  })
}
