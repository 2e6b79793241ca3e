import type { KeyValue } from '../../keys/index.js'
import type { LinkValue } from './link-attributes-of.js'
import { readProperty } from '../../codec/index.js'
import type { RelationModel } from '../../model/index.js'

/**
 * Knowledge of a session about whether a member is stored.
 * `elsewhere`: its own record names another owner; another session may have moved it here since that was read.
 */
export type Knowledge = 'stored' | 'absent' | 'elsewhere' | 'unknown'

/** The Ref or Collection at one end of a link, as the other end sees it: a change there is shown here. */
export interface RelationSide {
  /** The other end has taken this one. */
  addFromInverse(end: object): void
  /** The other end has let this one go. */
  removeFromInverse(end: object): void
  /** The other end has forgotten its change of the link: this one is as stored, too. */
  revert(end: object): void
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

/** Undefined for what is no Ref or Collection of this package. */
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
