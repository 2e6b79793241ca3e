import type { KeyValue } from '../../keys/index.js'
import { readProperty } from '../../codec/index.js'
import type { RelationModel } from '../../model/index.js'
import { userKeyId } from '../../plan/record-key.js'
import { isEntity, type Member } from '../contract/member.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/**
 * Knowledge of a session about whether a member is stored.
 * `elsewhere`: its own record names another owner; another session may have moved it here since that was read.
 */
export type Knowledge = 'stored' | 'absent' | 'elsewhere' | 'unknown'

/** The Ref or Collection at one end of a link, as the other end sees it: a change there is shown here. */
export interface RelationSide {
  /** The other end has taken this one. */
  addFromInverse(end: object): void
  /** The other end has dropped this one. */
  removeFromInverse(end: object): void
  /** The other end has forgotten its change of the link: this one is as stored, too. A link record may be known by its key alone. */
  revert(end: Member): void
  /** Reverts as above, and the record of the other end says that it belongs here. */
  restore(end: object): void
  /** The other end points elsewhere: what was made of its link here goes. */
  withdraw(end: object): void
  /** False where this side has another partner by now. */
  mayHave(end: object): boolean
  /** Knowledge from the record of this side about an owner. */
  wordOf(owner: KeyValue): Knowledge
  /** Both sides of a link have the same attributes. */
  shareLink?(end: object, link: LinkValue): void
}

const SIDES = new WeakMap<object, RelationSide>()

export function setSide(value: object, side: RelationSide): void {
  SIDES.set(value, side)
}

/** Undefined for what is not a Ref or Collection of this package. */
export function sideOf(value: unknown): RelationSide | undefined {
  return typeof value === 'object' && value !== null ? SIDES.get(value) : undefined
}

/** Shows on the other side that `owner` now has `member`; what is not loaded there stays unloaded. */
export function showLink(relation: RelationModel, owner: object, member: object): void {
  otherSide(relation, member)?.addFromInverse(owner)
}

/** Shows on the other side that `owner` no longer has `member`. */
export function showUnlink(relation: RelationModel, owner: object, member: object): void {
  otherSide(relation, member)?.removeFromInverse(owner)
}

/** A side is read again, and has forgotten its change of the link: the other is as stored, too. False where that has another partner by now. */
export function forgetChange(relation: RelationModel, owner: object, member: object): boolean {
  const other = otherSide(relation, member)
  other?.revert(owner)
  return other?.mayHave(owner) ?? true
}

/** Both sides of a link have the same attributes. */
export function showAttributes(relation: RelationModel, owner: object, member: object, link: LinkValue): void {
  otherSide(relation, member)?.shareLink?.(owner, link)
}

/** The side of a relation that another entity has. */
export function otherSide({ inverse }: RelationModel, member: object): RelationSide | undefined {
  return inverse === undefined ? undefined : sideOf(readProperty(member, inverse))
}

/** The attributes of one link. Both sides of it share this, where both are in the session. */
export class LinkValue {
  readonly value: object
  #snapshot: object | undefined
  #isPartlySent = false

  constructor(value: object, snapshot?: object) {
    this.value = value
    this.#snapshot = snapshot
  }

  /** As stored; undefined while they are not. */
  get snapshot(): object | undefined {
    return this.#snapshot
  }

  /** A change of them may have reached one end, and not yet both. */
  get isPartlySent(): boolean {
    return this.#isPartlySent
  }

  notePartlySent(): void {
    this.#isPartlySent = true
  }

  /** Both ends hold them like this now. */
  confirm(snapshot: object | undefined): void {
    this.#snapshot = snapshot
    this.#isPartlySent = false
  }
}

interface Data {
  byKey: Map<string, [KeyValue, LinkValue]> | undefined
  /** Links to entities that have no key yet. */
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
