import type { EntityModel } from './model.js'
import type { RelationModel } from './relation-model.js'

/**
 * True for a relation whose members move to the archive with the record: children that are deleted with it, that its record lists or that
 * share its key, and that lead back to no other.
 */
export function archivedAlong(
  owner: EntityModel,
  { strategy, onDelete, inverse, target, companions, through, owner: isOwner }: RelationModel,
  entities: ReadonlyMap<string, EntityModel>,
): boolean {
  const member = entities.get(target)
  if (onDelete !== 'cascade' || companions !== undefined || through !== undefined || member === undefined) return false
  if (owner.archive === undefined || member.archive !== owner.archive || member.namespace !== owner.namespace)
    return false
  if (strategy === 'sharedKey') return inverse === undefined || isOwner
  const back = member.relations.find(({ name }) => name === inverse)
  return strategy === 'keyList' && back?.strategy === 'keyBin' && back.holds === 'ref' && back.several === undefined
}
