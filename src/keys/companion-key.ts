import { crc32 } from 'node:zlib'
import type { KeyValue } from './key-value.js'

/** The set of the companion records of a bin, unless the decorator names another. */
export const companionSet = (set: string, bin: string): string => `${set}_${bin}`

/** The key of one shard of a record: `{key}:{shard}`. A key of bytes stays one of bytes. */
export function companionKey(key: KeyValue, shard: string | number): KeyValue {
  return key instanceof Uint8Array ? Buffer.concat([key, Buffer.from(`:${shard}`)]) : `${key}:${shard}`
}

/**
 * The shard that a member belongs to: the CRC-32 of its stored key, modulo the number of shards. An integer counts as its decimal digits, so
 * that any program can compute it.
 */
export function hashShard(member: KeyValue, shards: number): number {
  return crc32(member instanceof Uint8Array ? member : String(member)) % shards
}
