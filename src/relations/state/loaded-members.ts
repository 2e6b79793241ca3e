import type { KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declared-key.js'
import type { Value } from '../../plan/value.js'
import { type KeyOf, MemberSet } from './keyed-members.js'
import type { Member } from '../contract/member.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/** Stored members of a collection, as far as they were read. */
export class LoadedMembers {
  readonly #data: Data = { members: undefined, bin: undefined, dangling: [] }
  #keyOf: KeyOf = declaredKey
  /** How many loads are under way, and what a flush has stored meanwhile: their reads may have been before it. */
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
