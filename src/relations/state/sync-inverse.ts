import { readProperty } from '../../codec/index.js'
import type { RelationModel } from '../../model/index.js'
import type { LinkValue } from './link-attributes-of.js'
import { isCollection, isRef } from '../contract/relation-marker.js'
import { collectionStateOf, refStateOf } from './state-of.js'

/** Shows on the other side that `owner` now has `member`; what is not loaded there stays unloaded. */
export function showLink(relation: RelationModel, owner: object, member: object): void {
  const other = otherSide(relation, member)
  if (isRef(other)) refStateOf(other).setFromInverse(owner)
  else if (isCollection(other)) collectionStateOf(other).addFromInverse(owner)
}

/** Shows on the other side that `owner` no longer has `member`. */
export function showUnlink(relation: RelationModel, owner: object, member: object): void {
  const other = otherSide(relation, member)
  if (isRef(other)) refStateOf(other).clearFromInverse(owner)
  else if (isCollection(other)) collectionStateOf(other).removeFromInverse(owner)
}

/** A side is read again, and has forgotten its change of the link: the other is as stored, too. False where that has another partner by now. */
export function forgetChange(relation: RelationModel, owner: object, member: object): boolean {
  const other = otherSide(relation, member)
  if (isCollection(other)) collectionStateOf(other).revert(owner)
  if (!isRef(other)) return true
  const state = refStateOf(other)
  state.revert(owner)
  return state.mayBeAt(owner)
}

/** Both sides of a link have the same attributes. */
export function showAttributes(relation: RelationModel, owner: object, member: object, link: LinkValue): void {
  const other = otherSide(relation, member)
  if (!isCollection(other)) return
  collectionStateOf(other).links.set(owner, link)
}

function otherSide({ inverse }: RelationModel, member: object): unknown {
  return inverse === undefined ? undefined : readProperty(member, inverse)
}
