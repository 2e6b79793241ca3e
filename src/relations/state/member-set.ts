import type { KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declared-key.js'
import { userKeyId } from '../../plan/record-key.js'

/** The other end of a link: an entity, or the key of one that is not at hand. */
export type Member = object | KeyValue

export function isEntity(member: Member | null | undefined): member is object {
  return typeof member === 'object' && member !== null && !(member instanceof Uint8Array)
}

export type KeyOf = (entity: object) => KeyValue | null

/** Members in the order they came, each once: an entity and its key are the same member. */
export class MemberSet {
  /** How to read an entity's key; a session knows more of it than the class alone. */
  keyOf: KeyOf = declaredKey
  // Most sets of most entities stay empty, and are made for every entity that is loaded.
  #byKey: Map<string, Member> | undefined
  /** Entities that had no key when they came. */
  #keyless: Set<object> | undefined

  get size(): number {
    return (this.#byKey?.size ?? 0) + (this.#keyless?.size ?? 0)
  }

  /** False when it was there already; an entity takes the place of its bare key. */
  add(member: Member): boolean {
    const id = this.#id(member)
    if (id === undefined) {
      this.#keyless ??= new Set()
      if (this.#keyless.has(member as object)) return false
      this.#keyless.add(member as object)
      return true
    }
    this.#settleKeys()
    this.#byKey ??= new Map()
    const known = this.#byKey.get(id)
    if (known === undefined || (!isEntity(known) && isEntity(member))) this.#byKey.set(id, member)
    return known === undefined
  }

  delete(member: Member): boolean {
    if (this.size === 0) return false
    this.#settleKeys()
    if (isEntity(member) && this.#keyless?.delete(member)) return true
    const id = this.#id(member)
    return id !== undefined && this.#byKey?.delete(id) === true
  }

  has(member: Member): boolean {
    if (this.size === 0) return false
    this.#settleKeys()
    if (isEntity(member) && this.#keyless?.has(member)) return true
    const id = this.#id(member)
    return id !== undefined && this.#byKey?.has(id) === true
  }

  /** The member with that key, as it was added. */
  find(key: KeyValue): Member | undefined {
    this.#settleKeys()
    return this.#byKey?.get(userKeyId(key))
  }

  clear(): void {
    this.#byKey = undefined
    this.#keyless = undefined
  }

  *[Symbol.iterator](): Iterator<Member> {
    if (this.#byKey !== undefined) yield* this.#byKey.values()
    if (this.#keyless !== undefined) yield* this.#keyless
  }

  /** Makes it hold these again, and nothing else. */
  restore(members: readonly Member[]): void {
    this.clear()
    for (const member of members) this.add(member)
  }

  get entities(): object[] {
    return [...this].filter(isEntity)
  }

  keyOfMember(member: Member): KeyValue | null {
    return isEntity(member) ? this.keyOf(member) : member
  }

  #id(member: Member): string | undefined {
    const key = this.keyOfMember(member)
    return key === null || key === undefined ? undefined : userKeyId(key)
  }

  /** Entities that were given a key since they came are found by it from now on. */
  #settleKeys(): void {
    for (const entity of this.#keyless ?? []) {
      const id = this.#id(entity)
      if (id === undefined) continue
      this.#keyless!.delete(entity)
      this.#byKey ??= new Map()
      this.#byKey.set(id, entity)
    }
  }
}
