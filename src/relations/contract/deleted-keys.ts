import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'

/** Keys of one class that are deleted or detached, in the order that was asked for. */
export class DeletedKeys {
  readonly #places = new Map<string, number>()
  readonly #keys: KeyValue[] = []

  static of(keys: Iterable<KeyValue>): DeletedKeys {
    const deleted = new DeletedKeys()
    for (const key of keys) deleted.add(key)
    return deleted
  }

  get size(): number {
    return this.#keys.length
  }

  get ids(): Iterable<string> {
    return this.#places.keys()
  }

  add(key: KeyValue): void {
    this.#places.set(userKeyId(key), this.#keys.length)
    this.#keys.push(key)
  }

  has(key: KeyValue): boolean {
    return this.#places.has(userKeyId(key))
  }

  /** Keys that a holder of so many links may have, in their order here: it is asked for the fewer of the two. */
  among(links: number, ids: () => readonly string[]): readonly KeyValue[] {
    if (links >= this.size) return this.#keys
    const places = new Set(ids().flatMap((id) => this.#places.get(id) ?? []))
    if (places.size === 0) return NONE
    return [...places].sort((a, b) => a - b).map((place) => this.#keys[place])
  }

  [Symbol.iterator](): Iterator<KeyValue> {
    return this.#keys.values()
  }
}

const NONE: readonly KeyValue[] = []
