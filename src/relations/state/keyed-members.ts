import type { KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declared-key.js'
import { userKeyId } from '../../plan/record-key.js'
import { isEntity, type Member } from '../contract/member.js'
import { REMEMBER } from './remember-fields.js'

export type KeyOf = (entity: object) => KeyValue | null

/** Entries by the member they are about, in the order they came: an entity and its key are the same member. */
export abstract class KeyedMembers<E> {
  /** How to read an entity's key; a session knows more of it than the class alone. */
  keyOf: KeyOf = declaredKey
  // Most of these stay empty, and are made for every entity that is loaded.
  #byKey: Map<string, E> | undefined
  /** Entries of entities that had no key when they came. */
  #keyless: Map<object, E> | undefined

  protected abstract memberOf(entry: E): Member

  get size(): number {
    return (this.#byKey?.size ?? 0) + (this.#keyless?.size ?? 0)
  }

  get(member: Member): E | undefined {
    if (this.size === 0) return undefined
    this.#settleKeys()
    const keyless = isEntity(member) ? this.#keyless?.get(member) : undefined
    if (keyless !== undefined) return keyless
    const id = this.#id(member)
    return id === undefined ? undefined : this.#byKey?.get(id)
  }

  has(member: Member): boolean {
    return this.get(member) !== undefined
  }

  /** Takes the place of the entry of the same member, unless that is kept. */
  put(entry: E, isKept?: (known: E) => boolean): void {
    const member = this.memberOf(entry)
    const id = this.#id(member)
    if (id === undefined) {
      const keyless = (this.#keyless ??= new Map<object, E>())
      const known = keyless.get(member as object)
      if (known === undefined || isKept?.(known) !== true) keyless.set(member as object, entry)
      return
    }
    this.#settleKeys()
    const byKey = (this.#byKey ??= new Map<string, E>())
    const known = byKey.get(id)
    if (known === undefined || isKept?.(known) !== true) byKey.set(id, entry)
  }

  delete(member: Member): boolean {
    if (this.size === 0) return false
    this.#settleKeys()
    if (isEntity(member) && this.#keyless?.delete(member)) return true
    const id = this.#id(member)
    return id !== undefined && this.#byKey?.delete(id) === true
  }

  clear(): void {
    this.#byKey = undefined
    this.#keyless = undefined
  }

  *[Symbol.iterator](): Iterator<E> {
    if (this.#byKey !== undefined) yield* this.#byKey.values()
    if (this.#keyless !== undefined) yield* this.#keyless.values()
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    const entries = this.size === 0 ? [] : [...this]
    return () => {
      this.clear()
      for (const entry of entries) this.put(entry)
    }
  }

  /** Ids of the keys under which members are found. */
  get ids(): string[] {
    this.#settleKeys()
    return [...(this.#byKey?.keys() ?? [])]
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
    if (this.#keyless === undefined || this.#keyless.size === 0) return
    for (const [entity, entry] of this.#keyless) {
      const id = this.#id(entity)
      if (id === undefined) continue
      this.#keyless.delete(entity)
      this.#byKey ??= new Map()
      this.#byKey.set(id, entry)
    }
  }
}

/** Members in the order they came, each once. */
export class MemberSet extends KeyedMembers<Member> {
  /** An entity takes the place of its bare key, and of no other instance. */
  add(member: Member): void {
    this.put(member, (known) => isEntity(known) || !isEntity(member))
  }

  protected memberOf(member: Member): Member {
    return member
  }
}
