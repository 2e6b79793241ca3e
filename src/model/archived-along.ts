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

/**
 * True for a relation with two sides of which one may be archived while the other stays: each record names the other, and neither is
 * deleted with it. A record that is archived keeps its links in itself; of a parent and its child only the child may be archived, and of
 * a link record and its ends only the ends.
 */
export function linkedApart(
  owner: EntityModel,
  relation: RelationModel,
  entities: ReadonlyMap<string, EntityModel>,
): boolean {
  const other = entities.get(relation.target)
  const back = other?.relations.find(({ name }) => name === relation.inverse)
  if (other === undefined || back === undefined) return false
  if (relation.through !== undefined) return isEndApart(owner, relation, other, back)
  if (back.through !== undefined) return isEndApart(other, back, owner, relation)
  if (![relation, back].every(isLoose)) return false
  if (isKeptApart(owner, relation) || isKeptApart(other, back)) return false
  if (relation.kind === 'manyToMany') return owner.archive !== undefined || other.archive !== undefined
  const [child, parent] = relation.kind === 'manyToOne' ? [owner, other] : [other, owner]
  const [ref, list] = relation.kind === 'manyToOne' ? [relation, back] : [back, relation]
  const isListed = membersOf(ref) === 'named' && membersOf(list) === 'listed'
  return isListed && child.archive !== undefined && parent.archive === undefined
}

/**
 * True for an end of link records that may be archived while those stay: its record lists them, their keys name it for good, and nothing
 * of them stays when they are ended.
 */
function isEndApart(end: EntityModel, links: RelationModel, link: EntityModel, ref: RelationModel): boolean {
  if (ref.several !== undefined || links.several !== undefined) return false
  if (end.archive === undefined || end.deletedAt !== undefined) return false
  if (link.archive !== undefined || link.deletedAt !== undefined) return false
  return membersOf(links) === 'listed' && links.companions === undefined
}

/** True for a side that lets the other one go alone, and keeps nothing of links that were ended. */
const isLoose = (relation: RelationModel): boolean =>
  relation.onDelete === 'detach' &&
  relation.orphans === 'keep' &&
  relation.through === undefined &&
  relation.several === undefined &&
  relation.knownAs === undefined &&
  relation.endedBin === undefined &&
  relation.inTheirKeys === undefined

/** True where companions of an archived record hold its links. */
const isKeptApart = ({ archive }: EntityModel, { companions }: RelationModel): boolean =>
  archive !== undefined && companions !== undefined

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
