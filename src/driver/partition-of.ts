import type { RecordKey } from '../plan/record-key.js'
import { ripemd160Start } from './ripemd160.js'

const INTEGER = 1
const STRING = 3
const BYTES = 4
const HIGH = 2 ** 32
const PARTITIONS = 4096
/** The longest set, the type and an integer fit easily; longer keys get a buffer of their own. */
const scratch = Buffer.alloc(1024)

/** The partition that a record is in, from the digest of its set and key as the server computes it. */
export function partitionOfKey({ set, key }: RecordKey): number {
  const most =
    3 * set.length + 9 + (typeof key === 'string' ? 3 * key.length : key instanceof Uint8Array ? key.length : 0)
  const bytes = most <= scratch.length ? scratch : Buffer.alloc(most)
  const prefix = bytes.write(set, 0)
  return ripemd160Start(bytes, writeKey(bytes, prefix, key)) & (PARTITIONS - 1)
}

/** Returns the position behind it. */
function writeKey(bytes: Buffer, at: number, key: RecordKey['key']): number {
  if (typeof key === 'string') {
    bytes[at] = STRING
    return at + 1 + bytes.write(key, at + 1)
  }
  if (key instanceof Uint8Array) {
    bytes[at] = BYTES
    bytes.set(key, at + 1)
    return at + 1 + key.length
  }
  bytes[at] = INTEGER
  if (typeof key === 'bigint') return bytes.writeBigInt64BE(key, at + 1)
  bytes.writeInt32BE(Math.floor(key / HIGH), at + 1)
  return bytes.writeUInt32BE(key >>> 0, at + 5)
}
