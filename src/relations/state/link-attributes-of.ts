import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import { isEntity, type Member } from '../contract/member.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/** The attributes of one link. Both sides of it share this, where both are in the session. */
export interface LinkValue {
  value: object
  /** As stored; undefined while they are not. */
  snapshot: object | undefined
  /** A change of them may have reached one end, and not yet both. */
  isPartlySent?: boolean
}

interface Data {
  byKey: Map<string, [KeyValue, LinkValue]> | undefined
  /** Of entities that have no key yet. */
  byEntity: Map<object, LinkValue> | undefined
}

/** The attributes of a collection's links, as far as they are known. */
export class LinkValues {
  readonly #keyOf: (member: Member) => KeyValue | null
  // Few collections have any.
  readonly #data: Data = { byKey: undefined, byEntity: undefined }

  constructor(keyOf: (member: Member) => KeyValue | null) {
    this.#keyOf = keyOf
  }

  get(member: Member): LinkValue | undefined {
    const { byKey, byEntity } = this.#data
    if (byKey === undefined && byEntity === undefined) return undefined
    const key = this.#keyOf(member)
    const known = key === null ? undefined : byKey?.get(userKeyId(key))?.[1]
    return known ?? (isEntity(member) ? byEntity?.get(member) : undefined)
  }

  set(member: Member, link: LinkValue): void {
    const key = this.#keyOf(member)
    if (key !== null) (this.#data.byKey ??= new Map()).set(userKeyId(key), [key, link])
    else if (isEntity(member)) (this.#data.byEntity ??= new Map()).set(member, link)
  }

  delete(member: Member): void {
    if (this.isEmpty) return
    const key = this.#keyOf(member)
    if (key !== null) this.#data.byKey?.delete(userKeyId(key))
    if (isEntity(member)) this.#data.byEntity?.delete(member)
  }

  /** Forgets all others. */
  keep(isKept: (key: KeyValue, link: LinkValue) => boolean): void {
    const { byKey } = this.#data
    for (const [id, [key, link]] of byKey ?? []) if (!isKept(key, link)) byKey!.delete(id)
    this.#data.byEntity = undefined
  }

  /** True while a member has no key to be found by. */
  get hasKeyless(): boolean {
    return (this.#data.byEntity?.size ?? 0) > 0
  }

  get size(): number {
    return this.#data.byKey?.size ?? 0
  }

  /** Ids of the members that have a key. */
  get ids(): string[] {
    return [...(this.#data.byKey?.keys() ?? [])]
  }

  /** Attributes of members that have a key. */
  get entries(): [KeyValue, LinkValue][] {
    return [...(this.#data.byKey?.values() ?? [])]
  }

  get isEmpty(): boolean {
    const { byKey, byEntity } = this.#data
    return (byKey?.size ?? 0) === 0 && (byEntity?.size ?? 0) === 0
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this.#data)
  }
}
