/** The user key of a record as it is hashed: an integer, a string or bytes. */
export type UserKey = string | number | bigint | Uint8Array

/** Address of one record. */
export interface RecordKey {
  readonly namespace: string
  readonly set: string
  readonly key: UserKey
  /** True for a random key generated here for a new record: no other writer can have used it. */
  readonly isMade?: true
  /** True for a new record of an entity that was managed before: other sessions may know the key. */
  readonly isReused?: true
}

export function recordKey(namespace: string, set: string, key: UserKey): RecordKey {
  return new Address(namespace, set, key)
}

/** Made by a constructor, as the commands are, because every call makes one. */
class Address implements RecordKey {
  readonly namespace: string
  readonly set: string
  readonly key: UserKey

  constructor(namespace: string, set: string, key: UserKey) {
    this.namespace = namespace
    this.set = set
    this.key = key
  }
}

/** A text that is equal exactly when two keys name the same record: 1 and '1' differ, 1 and 1n do not. */
export function recordId(key: RecordKey): string {
  return `${key.namespace}|${key.set}|${userKeyId(key.key)}`
}

/** The namespace of a record, from its id. */
export const namespaceOf = (id: string): string => id.slice(0, id.indexOf('|'))

export function userKeyId(key: UserKey): string {
  if (typeof key === 'string') return `s${key}`
  if (key instanceof Uint8Array) return `b${Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')}`
  return `i${key}`
}

/** The key as people read it in plans, errors and logs. */
export function showKey(key: RecordKey, reveal = true): string {
  return `${key.set}/${reveal ? showUserKey(key.key) : '…'}`
}

export function showUserKey(key: UserKey): string {
  if (typeof key === 'string') {
    return key.length <= 100 ? JSON.stringify(key) : `${JSON.stringify(key.slice(0, 100))}… (${key.length} characters)`
  }
  if (key instanceof Uint8Array && key.byteLength > 64) return `${key.byteLength} bytes`
  if (key instanceof Uint8Array) return `0x${Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')}`
  return String(key)
}

/** Groups of records that must change together: a union-find over record ids. */
export class RecordGroups {
  readonly #parents = new Map<string, string>()

  tie(a: string, b: string): void {
    const [first, second] = [this.#root(a), this.#root(b)]
    if (first !== second) this.#parents.set(second, first)
  }

  /** Splits the records into groups, in the order given. */
  groups(ids: Iterable<string>): string[][] {
    const groups = new Map<string, string[]>()
    for (const id of ids) {
      const root = this.#root(id)
      const group = groups.get(root)
      if (group === undefined) groups.set(root, [id])
      else group.push(id)
    }
    return [...groups.values()]
  }

  /** Names the group of a record: all of one group give the same, as long as no more are tied. */
  groupOf(id: string): string {
    return this.#root(id)
  }

  /** Tests whether a record is in the group of one of these. */
  sameGroupAs(ids: Iterable<string>): (id: string) => boolean {
    const roots = new Set([...ids].map((id) => this.#root(id)))
    return (id) => roots.has(this.#root(id))
  }

  #root(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    // Path compression.
    for (let at = id; at !== root;) {
      const parent = this.#parents.get(at)!
      this.#parents.set(at, root)
      at = parent
    }
    return root
  }
}
