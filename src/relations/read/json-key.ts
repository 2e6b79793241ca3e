import type { KeyValue } from '../../keys/index.js'

/** A key as JSON can hold it: JSON knows neither bigints nor bytes. */
export function jsonKey(key: KeyValue | null): string | number | null {
  if (typeof key === 'bigint') return String(key)
  return key instanceof Uint8Array ? `0x${Buffer.from(key).toString('hex')}` : key
}
