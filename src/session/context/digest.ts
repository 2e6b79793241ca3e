import { createHash } from 'node:crypto'
import type { RecordKey } from '../../plan/record-key.js'

/** The digest that the server knows a record by. */
export function digestOf({ set, key }: RecordKey): Buffer {
  const hash = createHash('ripemd160').update(set)
  if (typeof key === 'string') return hash.update('\u0003').update(key).digest()
  if (key instanceof Uint8Array) return hash.update('\u0004').update(key).digest()
  const bytes = Buffer.alloc(9)
  bytes[0] = 1
  bytes.writeBigInt64BE(BigInt(key), 1)
  return hash.update(bytes).digest()
}
