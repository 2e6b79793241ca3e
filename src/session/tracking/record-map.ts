import type { UserKey } from '../../plan/record-key.js'

/** What a session holds for each key. A Map is made for the second entry only: most sessions hold one entity and wait for one record. */
export class RecordMap<T> {
  #key: UserKey | undefined
  #value: T | undefined
  #many: Map<UserKey, T> | undefined

  get(key: UserKey): T | undefined {
    const id = identityOf(key)
    if (this.#many !== undefined) return this.#many.get(id)
    return this.#key === id ? this.#value : undefined
  }

  set(key: UserKey, value: T): void {
    const id = identityOf(key)
    if (this.#many !== undefined) this.#many.set(id, value)
    else if (this.#key === undefined || this.#key === id) {
      this.#key = id
      this.#value = value
    } else {
      this.#many = new Map([[this.#key, this.#value!]])
      this.#many.set(id, value)
      this.#key = this.#value = undefined
    }
  }

  /** Takes out the value, unless another one has taken its place. */
  delete(key: UserKey, value: T): void {
    if (this.get(key) !== value) return
    if (this.#many !== undefined) this.#many.delete(identityOf(key))
    else this.#key = this.#value = undefined
  }

  /** The values for which this holds go to the end of the list. */
  collect(wanted: (value: T) => boolean, into: T[]): void {
    if (this.#many !== undefined) {
      for (const value of this.#many.values()) if (wanted(value)) into.push(value)
    } else if (this.#key !== undefined && wanted(this.#value!)) into.push(this.#value!)
  }
}

/** What a Map compares keys by: bytes by their content. The keys of one set are all of one kind, so no text collides with them. */
export function identityOf(key: UserKey): UserKey {
  if (!(key instanceof Uint8Array)) return key
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
