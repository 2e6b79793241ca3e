import { archivedAlong, linkedApart } from '../archived-along.js'
import type { EntityModel } from '../model.js'
import type { RelationModel } from '../relation-model.js'
import { targetsOf } from '../several.js'
import { checkNamespace } from './check-names.js'
import type { Problems } from './problems.js'
import { membersOf } from './strategies.js'

type Entities = ReadonlyMap<string, EntityModel>

/** Checks that records which are archived leave nothing behind that leads to them, or belongs to them. */
export function checkArchives(entities: Entities, problems: Problems): void {
  for (const entity of entities.values()) {
    if (entity.archive === undefined) continue
    checkNamespace(problems, entity.archive, entity.name)
    if (entity.archive === entity.namespace) {
      const message = `Its archive is the namespace '${entity.namespace}' that its records are in.`
      problems.add('SKEIN_1063', { className: entity.name }, message, 'Name another namespace.')
    }
    checkOwn(entity, entities, problems)
    checkOthers(entity, entities, problems)
  }
}

function checkOwn(entity: EntityModel, entities: Entities, problems: Problems): void {
  const { name: className, relations } = entity
  for (const relation of relations) {
    const problem = problemOf(entity, relation, entities)
    if (problem === undefined) continue
    const [why, fix] = problem
    problems.add('SKEIN_1063', { className, property: relation.name }, why, fix)
  }
}

/** Describes what a relation would leave behind, and what to do about it. */
function problemOf(
  entity: EntityModel,
  relation: RelationModel,
  entities: Entities,
): readonly [string, string] | undefined {
  const { name, inverse, onDelete, target, through } = relation
  const members = membersOf(relation)
  if (through === undefined && (members === 'inside' || archivedAlong(entity, relation, entities))) return undefined
  if (linkedApart(entity, relation, entities)) return undefined
  const isList = (members === 'listed' || isLinkMap(relation)) && inverse === undefined && onDelete === 'detach'
  if (through === undefined && inverse === undefined && (members === 'named' || isList)) return undefined
  const back = inverse === undefined ? undefined : entities.get(target)?.relations.find((each) => each.name === inverse)
  // A record that has left is no longer found by the index of the other side.
  if (back !== undefined && isLooseIndex(entities.get(target)!, back)) return undefined
  // The other side moves this one along.
  if (back !== undefined && archivedAlong(entities.get(target)!, back, entities)) return undefined
  const message = `A ${entity.name} that is archived would leave the other side of ${name} behind.`
  return [message, wayOf(entity, relation, back)]
}

/** Says what to do about a relation with another side. */
function wayOf({ name }: EntityModel, relation: RelationModel, back: RelationModel | undefined): string {
  const { through, companions } = relation
  if (through !== undefined)
    return `Keep its link records without @DeletedAt and archive, and list them in the record of ${name} (strategy: 'keyList', without @Sharded); or leave out the archive of ${name}.`
  if (back?.through !== undefined) return `Leave out the archive of ${name}: a link record stays with its two ends.`
  if (companions !== undefined && back !== undefined)
    return `Leave out @Sharded or @Companion, or archive; the other side may keep its links in companions.`
  const isBound = [relation, back].some((each) => each !== undefined && each.onDelete !== 'detach')
  if (isBound || back?.orphans === 'delete' || relation.orphans === 'delete')
    return `Use onDelete: 'detach' and keep orphans on both sides, or children that move along: a list of keys with onDelete: 'cascade' to a class with the same archive.`
  return `Use a reference or a list without another side, many-to-many, @Embeddable children, or children that move along: a list of keys with onDelete: 'cascade' to a class with the same archive.`
}

/** True for links with attributes, of which nothing stays when they are ended. */
const isLinkMap = ({ strategy, endedBin }: RelationModel): boolean => strategy === 'linkMap' && endedBin === undefined

/** True for a collection of a class without an archive that an index finds, and that is not deleted with its owner. */
const isLooseIndex = ({ archive }: EntityModel, relation: RelationModel): boolean =>
  archive === undefined &&
  membersOf(relation) === 'indexed' &&
  relation.onDelete !== 'cascade' &&
  relation.through === undefined

function checkOthers(archived: EntityModel, entities: Entities, problems: Problems): void {
  for (const entity of entities.values())
    for (const relation of entity.relations) {
      const { name: property } = relation
      if (!targetsOf(relation).includes(archived.name) || archivedAlong(entity, relation, entities)) continue
      // Entities that move along with it lead back to it.
      const back = archived.relations.find((each) => each.name === relation.inverse)
      if (back !== undefined && archivedAlong(archived, back, entities)) continue
      if (isLooseIndex(entity, relation) || linkedApart(entity, relation, entities)) continue
      const message = `It leads to ${archived.name}, whose records may be archived.`
      const fix = `Store the key in a @Bin, and load it with { from: 'any' }; or leave archive out of ${archived.name}.`
      problems.add('SKEIN_1063', { className: entity.name, property }, message, fix)
    }
}
