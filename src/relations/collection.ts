import { inspect } from 'node:util'
import { SkeinError } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import { declaredKey } from '../model/declared-key.js'
import type { Collection, PageOptions } from '../model/related.js'
import { membersToJSON } from './members-to-json.js'
import { COLLECTION } from './relation-marker.js'

/**
 * The initial value of a to-many relation.
 *
 * @example
 * @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
 */
export function collection<T extends object>(): Collection<T> {
  return new DetachedCollection<T>()
}

/** The collection of an entity outside any session: its members are those that were added. */
export class DetachedCollection<T extends object> implements Collection<T> {
  readonly #members = new Set<T | KeyValue>()

  add(...members: (T | KeyValue)[]): void {
    for (const member of members) this.#members.add(member)
  }

  remove(...members: (T | KeyValue)[]): void {
    for (const member of members) this.#members.delete(member)
  }

  get isLoaded(): boolean {
    return [...this.#members].every(isEntity)
  }

  get items(): readonly T[] {
    const members = [...this.#members]
    if (members.every((member): member is T => isEntity(member))) return members
    throw new SkeinError('SKEIN_2402', 'The collection is not loaded: some members are known by key only.', {
      fix: 'Call await collection.load() first, or name the relation in { with: […] } when loading.',
    })
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]()
  }

  load(): Promise<readonly T[]> {
    return this.isLoaded ? Promise.resolve(this.items) : Promise.reject(this.#noSession('load'))
  }

  contains(member: T | KeyValue): Promise<boolean> {
    return Promise.resolve(this.#members.has(member))
  }

  count(): Promise<number> {
    return Promise.resolve(this.#members.size)
  }

  keys(): Promise<readonly KeyValue[]> {
    const keys = [...this.#members].map((member) => (isEntity(member) ? declaredKey(member) : member))
    if (keys.every((key): key is KeyValue => key !== null)) return Promise.resolve(keys)
    return Promise.reject(this.#noSession('keys'))
  }

  page({ offset = 0, count }: PageOptions): Promise<readonly T[]> {
    return this.load().then((items) => items.slice(offset, offset + count))
  }

  toJSON(): unknown {
    return this.isLoaded ? membersToJSON(this.items) : undefined
  }

  // Returning the members (and not their text) lets inspect find cycles by itself.
  [inspect.custom](): unknown {
    return this.isLoaded ? ShownMembers.from(this.items) : `Collection(${this.#members.size} members, not loaded)`
  }

  #noSession(call: string): SkeinError {
    return new SkeinError('SKEIN_2403', `${call}() of a collection outside a session has no server to ask.`, {
      fix: 'Load the entity that has it with session.load, or hand it to session.persist first.',
    })
  }
}
Object.defineProperty(DetachedCollection.prototype, COLLECTION, { value: true })

/** Prints as `Collection(2) [ … ]`. */
const ShownMembers = { Collection: class Collection<T> extends Array<T> {} }.Collection

function isEntity<T extends object>(member: T | KeyValue): member is T {
  return typeof member === 'object' && !(member instanceof Uint8Array)
}
