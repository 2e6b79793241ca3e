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

/** On a record with a history: when its present state was made, and by whom. */
export const MADE_BIN = '_sk.made'

/** On the record of a history: earlier states in the order of time. */
export const HISTORY_BIN = '_sk.history'

/** On a record that is moved between namespaces, and on its copy: which mover has claimed it last. */
export const MOVED_BIN = '_sk.moved'

export function isReservedBin(name: string): boolean {
  return name === SUBKEYS_BIN || name.startsWith(RESERVED_BIN_PREFIX)
}
