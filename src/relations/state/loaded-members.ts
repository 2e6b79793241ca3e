import type { KeyValue } from '../../keys/index.js'
import { declaredKey, declaredSet } from '../../model/declaration.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { isEntity, type Member } from '../contract/member.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/** Stored members of a collection, as far as they were read. */
export class LoadedMembers {
  readonly #data: Data = { members: undefined, bin: undefined, dangling: [] }
  #keyOf: KeyOf = declaredKey
  /** Loads that are under way, and what a flush has stored meanwhile: their reads may have been before it. */
  #loads = 0
  #confirmed: [Member, boolean][] | undefined

  set keyOf(keyOf: KeyOf) {
    this.#keyOf = keyOf
    if (this.#data.members) this.#data.members.keyOf = keyOf
  }

  /** Undefined until they are loaded; a bare key among them is not loaded itself. */
  get members(): MemberSet | undefined {
    return this.#data.members
  }

  /** Keys that were listed and had no record. */
  get dangling(): readonly KeyValue[] {
    return this.#data.dangling
  }

  /** Value of the bin, read with the record for a load that follows; undefined once it may be outdated. */
  get bin(): Value | undefined {
    return this.#data.bin
  }

  takeBin(bin: Value): void {
    this.#data.bin = bin
  }

  /** The collection is changed here: a load that comes later must read it anew. */
  dropBin(): void {
    this.#data.bin = undefined
  }

  get isLoading(): boolean {
    return this.#loads > 0
  }

  /** Returns where the load begins; each one must end. */
  beginLoad(): number {
    this.#loads++
    return this.#confirmed?.length ?? 0
  }

  endLoad(): void {
    if (--this.#loads === 0) this.#confirmed = undefined
  }

  /** Takes over what a load has read, with what was stored since it began. */
  fill(members: Iterable<Member>, since = this.#confirmed?.length ?? 0, dangling: readonly KeyValue[] = []): void {
    const loaded = new MemberSet()
    loaded.keyOf = this.#keyOf
    for (const member of members) loaded.add(member)
    this.#data.members = loaded
    this.#data.dangling = dangling
    this.#data.bin = undefined
    for (const [member, isMember] of this.#confirmed?.slice(since) ?? []) this.#set(member, isMember)
  }

  /** A flush has stored a member, or taken it out. */
  confirm(member: Member, isMember: boolean): void {
    this.dropBin()
    if (this.#loads > 0) (this.#confirmed ??= []).push([member, isMember])
    this.#set(member, isMember)
  }

  /** The entity of a member that was known by its key alone. */
  resolve(entity: object): void {
    if (this.#data.members?.has(entity)) this.#data.members.add(entity)
  }

  /** Nothing is known of what is stored. */
  clear(): void {
    this.#data.members = undefined
    this.#data.bin = undefined
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this.#data)
  }

  #set(member: Member, isMember: boolean): void {
    if (isMember) this.#data.members?.add(member)
    else this.#data.members?.delete(member)
  }
}

interface Data {
  members: MemberSet | undefined
  bin: Value | undefined
  dangling: readonly KeyValue[]
}

type KeyOf = (entity: object) => KeyValue | null

/** Entries by the member they are about, in the order they came: an entity and its key are the same member. */
export abstract class KeyedMembers<E> {
  #keyOf: KeyOf = declaredKey
  /** Outside a session, entities of several classes may have the same key. */
  #areTagged = false
  // Kept small: it is made for every entity that is loaded, and mostly stays empty.
  #byKey: Map<string, E> | undefined
  /** Entries of entities that had no key when they came. */
  #keyless: Map<object, E> | undefined

  protected abstract memberOf(entry: E): Member

  /** Reads an entity's key; a session knows more of it than the class alone. */
  get keyOf(): KeyOf {
    return this.#keyOf
  }

  set keyOf(keyOf: KeyOf) {
    const entries = this.size === 0 ? [] : [...this]
    this.#keyOf = keyOf
    if (entries.length === 0) return
    this.clear()
    for (const entry of entries) this.put(entry)
  }

  /** True while an entity among them has no key to be found by. */
  get hasKeyless(): boolean {
    if (this.#keyless === undefined || this.#keyless.size === 0) return false
    this.#settleKeys()
    return this.#keyless.size > 0
  }

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
    if (key === null || key === undefined) return undefined
    return isEntity(member) && this.#keyOf === declaredKey ? this.#declaredId(member, key) : userKeyId(key)
  }

  /** Before a session says what the keys of several classes are, entities of different sets are different members. */
  #declaredId(entity: object, key: KeyValue): string {
    const id = userKeyId(key)
    const known = this.#byKey?.get(id)
    if (known === undefined && !this.#areTagged) return id
    const own = `${id}|${declaredSet(entity)}`
    if (this.#byKey?.has(own) === true) return own
    const other = known && this.memberOf(known)
    if (!isEntity(other) || declaredSet(other) === declaredSet(entity)) return id
    this.#areTagged = true
    return own
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
class MemberSet extends KeyedMembers<Member> {
  /** An entity takes the place of its bare key, and of no other instance. */
  add(member: Member): void {
    this.put(member, (known) => isEntity(known) || !isEntity(member))
  }

  protected memberOf(member: Member): Member {
    return member
  }
}
