import { hashShard } from '../keys/index.js'

/** On the root record of a sharded collection: how its shards are named. */
export const SUBKEYS_BIN = 'subkeys'

/** Every other bin of the mapper itself starts with this, so it can never meet a user's. */
export const RESERVED_BIN_PREFIX = '_sk.'

/** Marks a record whose cascading delete has begun; it loads as gone. */
export const DELETING_BIN = '_sk.deleting'

/** On a companion record: the stored key of the record that it belongs to. */
export const COMPANION_ROOT_BIN = '_sk.root'

/** On a companion record: the number of its shard. */
export const COMPANION_SHARD_BIN = '_sk.shard'

/** On a companion record of a collection: of how many shards it is one; 0 where it is the only one. */
export const COMPANION_SHARDS_BIN = '_sk.shards'

/** On a companion record of a collection that is sharded on demand: the last move that it took part in, or a number of its own since it was made. */
export const COMPANION_JOINED_BIN = '_sk.joined'

/** On a record with a history: when its present state was made, and by whom. */
export const MADE_BIN = '_sk.made'

/** On the record of a history: earlier states in the order of time. */
export const HISTORY_BIN = '_sk.history'

/** On a record that is moved between namespaces, and on its copy: which mover has claimed it last. */
export const MOVED_BIN = '_sk.moved'

/** On a record with companions that is being archived, or comes back: neither it nor its companions take or lose members. */
export const ARCHIVING_BIN = '_sk.archiving'

/** On a companion that moves with its owner: of how many shards it was one before it was closed. */
export const CLOSED_BIN = '_sk.closed'

/** Number of shards that a closed companion says: no writer expects it. */
export const COMPANION_CLOSED = -(2 ** 40)

/** On the owner of a collection that is sharded on demand: there while its members move. A record may have several such collections. */
export const moveBinOf = (bin: string): string => `${RESERVED_BIN_PREFIX}m${hashShard(bin, 2 ** 32).toString(36)}`

/** On a record with links that are kept when they are ended: those of one relation, which a hash names because a bin name has at most 15 characters. */
export function endedLinksBin(set: string, relation: string): string {
  return `${RESERVED_BIN_PREFIX}end.${shortHash(`${set}.${relation}`)}`
}

/** Six hexadecimal digits that are the same for the same text. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 8).toString(16).padStart(6, '0')
}

export function isReservedBin(name: string): boolean {
  return name === SUBKEYS_BIN || name.startsWith(RESERVED_BIN_PREFIX)
}
