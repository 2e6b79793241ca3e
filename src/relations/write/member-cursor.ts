import { notACursor } from '../../errors/index.js'
import type { UserKey } from '../../plan/record-key.js'

/** The text that people keep between two pages: the last key of a page. */
export function showCursor(key: UserKey): string {
  const [kind, bytes] =
    typeof key === 'string'
      ? ['s', Buffer.from(key)]
      : key instanceof Uint8Array
        ? ['b', key]
        : ['i', Buffer.from(`${key}`)]
  return Buffer.concat([Buffer.from(kind), bytes as Uint8Array]).toString('base64url')
}

/** Reads the key back; throws SKEIN_2501 for what no page has given. */
export function readCursor(text: unknown): UserKey {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
  const key =
    bytes.toString('base64url') === text ? keyIn(bytes.toString('latin1', 0, 1), bytes.subarray(1)) : undefined
  if (key !== undefined) return key
  throw notACursor(text, 'Give the `next` of an earlier page of the same collection or query as it is.')
}

function keyIn(kind: string, bytes: Buffer): UserKey | undefined {
  if (bytes.length === 0) return undefined
  if (kind === 's') return bytes.toString()
  if (kind === 'b') return bytes
  const digits = bytes.toString()
  if (kind !== 'i' || !/^-?\d{1,19}$/.test(digits)) return undefined
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}
