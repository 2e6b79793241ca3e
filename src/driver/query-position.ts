import { notACursor } from '../errors/index.js'

/** A place in the order of a query, and how many partitions to ask for at a time from there. */
export interface Position {
  readonly partition: number
  readonly width: number
  /** The last record before the place; absent at the beginning. */
  readonly digest?: Uint8Array
}

const BYTES = 22

export function partitionOf(digest: Uint8Array): number {
  return digest[0] | ((digest[1] & 0x0f) << 8)
}

/** By partition first, then by bytes. */
export function compareDigests(a: Uint8Array, b: Uint8Array): number {
  return partitionOf(a) - partitionOf(b) || Buffer.compare(a, b)
}

/** The text that people keep between two pages. */
export function showPosition({ width, digest }: Required<Position>): string {
  const bytes = Buffer.alloc(BYTES)
  bytes.writeUInt16BE(width, 0)
  bytes.set(digest, 2)
  return bytes.toString('base64url')
}

export function readPosition(text: unknown): Position {
  const isText = typeof text === 'string' && text.length < 2 * BYTES
  const bytes = isText ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
  const width = bytes.length === BYTES ? bytes.readUInt16BE(0) : 0
  if (width < 1 || width > 4096 || bytes.toString('base64url') !== text) {
    throw notACursor(text, 'Give the `next` of an earlier page of the same collection or query as it is.')
  }
  const digest = bytes.subarray(2)
  return { partition: partitionOf(digest), width, digest }
}
