import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import { isEntity, type Member, type MemberSet } from './member-set.js'

/** The attributes of one link. Both sides of it share this, where both are in the session. */
export interface LinkValue {
  value: object
  /** As stored; undefined while they are not. */
  snapshot: object | undefined
}

/** The attributes of a collection's links, as far as they are known. */
export class LinkValues {
  readonly #byKey = new Map<string, [KeyValue, LinkValue]>()
  /** Of entities that have no key yet. */
  readonly #byEntity = new Map<object, LinkValue>()

  get(member: Member, members: MemberSet): LinkValue | undefined {
    const key = members.keyOfMember(member)
    const known = key === null ? undefined : this.#byKey.get(userKeyId(key))?.[1]
    return known ?? (isEntity(member) ? this.#byEntity.get(member) : undefined)
  }

  set(member: Member, link: LinkValue, members: MemberSet): void {
    const key = members.keyOfMember(member)
    if (key !== null) this.#byKey.set(userKeyId(key), [key, link])
    else if (isEntity(member)) this.#byEntity.set(member, link)
  }

  delete(member: Member, members: MemberSet): void {
    const key = members.keyOfMember(member)
    if (key !== null) this.#byKey.delete(userKeyId(key))
    if (isEntity(member)) this.#byEntity.delete(member)
  }

  /** What puts everything back as it is now. */
  remember(): () => void {
    const [byKey, byEntity] = [[...this.#byKey], [...this.#byEntity]]
    return () => {
      this.#byKey.clear()
      this.#byEntity.clear()
      for (const [id, link] of byKey) this.#byKey.set(id, link)
      for (const [entity, link] of byEntity) this.#byEntity.set(entity, link)
    }
  }

  /** Forgets all others. */
  keep(isKept: (key: KeyValue, link: LinkValue) => boolean): void {
    for (const [id, [key, link]] of this.#byKey) if (!isKept(key, link)) this.#byKey.delete(id)
    this.#byEntity.clear()
  }

  /** Those of members that have a key. */
  get entries(): Iterable<[KeyValue, LinkValue]> {
    return this.#byKey.values()
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0 && this.#byEntity.size === 0
  }
}
