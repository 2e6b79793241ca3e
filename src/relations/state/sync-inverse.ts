import { readProperty } from '../../codec/index.js'
import type { RelationModel } from '../../model/index.js'
import type { LinkValue } from './link-attributes-of.js'
import { sideOf, type RelationSide } from './relation-side.js'

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
