import { membersOf } from './compile/strategies.js'
import type { EntityModel } from './model.js'
import type { RelationModel } from './relation-model.js'

/**
 * True for a relation whose members move to the archive with the record: children that are deleted with it, that its record lists, that an
 * index finds or that share its key, and that lead back to no other.
 */
export function archivedAlong(
  owner: EntityModel,
  relation: RelationModel,
  entities: ReadonlyMap<string, EntityModel>,
): boolean {
  const { onDelete, inverse, target, companions, through, owner: isOwner } = relation
  const member = entities.get(target)
  if (onDelete !== 'cascade' || companions !== undefined || through !== undefined || member === undefined) return false
  if (owner.archive === undefined || member.archive !== owner.archive || member.namespace !== owner.namespace)
    return false
  const members = membersOf(relation)
  if (members === 'underItsKey') return inverse === undefined || isOwner
  const back = member.relations.find(({ name }) => name === inverse)
  if ((members !== 'listed' && members !== 'indexed') || back === undefined) return false
  return membersOf(back) === 'named' && back.holds === 'ref' && back.several === undefined
}

/** Bins of a class that need their index in the archive, too: it finds members there that move with their owner. */
export function indexedInArchive(member: EntityModel, entities: ReadonlyMap<string, EntityModel>): readonly string[] {
  if (member.archive === undefined) return []
  return [...entities.values()].flatMap((owner) =>
    owner.relations
      .filter((each) => each.target === member.name && membersOf(each) === 'indexed')
      .filter((each) => archivedAlong(owner, each, entities))
      .flatMap(({ inverse }) => member.relations.find(({ name }) => name === inverse)?.bin ?? []),
  )
}

/** True where an index finds members that move with records of the class. */
export const hasIndexedMembers = (model: EntityModel, entities: ReadonlyMap<string, EntityModel>): boolean =>
  model.relations.some((each) => membersOf(each) === 'indexed' && archivedAlong(model, each, entities))
