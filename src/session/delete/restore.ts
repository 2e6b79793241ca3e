import { readProperty, writeProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Reader } from '../../relations/contract/reader.js'
import { endIsDeleted } from '../../relations/contract/relation-errors.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { refStateOf } from '../../relations/state/state-of.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { deletedAtOf } from '../tracking/soft-deleted.js'
import { deletedEndsOf, type DeletedEnd } from './deleted-ends.js'

/**
 * Restores an entity that was deleted softly, and what was deleted with it. What depends on others comes first, so that a restore that is
 * cut off can be repeated. A link record whose other end is deleted takes over the time of that one, and comes back with it. False where
 * the entity was not deleted.
 */
export async function restoreEntity(
  root: ManagedEntity,
  reader: Reader,
  save: (members: readonly ManagedEntity[]) => Promise<void>,
): Promise<boolean> {
  const { model } = root
  if (model.deletedAt === undefined) throw notRestorable(model)
  const deletedAt = deletedAtOf(root)
  if (deletedAt === undefined) return false
  const levels = await deletedWith(root, (deletedAt as Date).getTime(), reader.withDeleted())
  const ends = await deletedEndsOf(levels.flat(), reader.withDeleted())
  const own = ends.get(root)
  if (own !== undefined) throw endIsDeleted({ model, link: root.key }, own.model, own.key)
  for (const level of levels.reverse()) await restoreLevel(level, ends, save)
  return true
}

async function restoreLevel(
  level: readonly ManagedEntity[],
  ends: ReadonlyMap<ManagedEntity, DeletedEnd>,
  save: (members: readonly ManagedEntity[]) => Promise<void>,
): Promise<void> {
  const before = level.map((managed) => deletedAtOf(managed))
  for (const managed of level) writeProperty(managed.entity, managed.model.deletedAt!, ends.get(managed)?.deletedAt)
  try {
    await save(level)
  } catch (error) {
    // Entities that were not written are still deleted, and say so.
    level.forEach(({ entity, model, mapped, snapshot }, i) => {
      if (snapshot !== undefined && mapped.codec.hasChanged(entity, snapshot))
        writeProperty(entity, model.deletedAt!, before[i])
    })
    throw error
  }
}

/** The entity, and level by level what a cascade has deleted at the same time. */
async function deletedWith(root: ManagedEntity, time: number, reader: Reader): Promise<ManagedEntity[][]> {
  const levels = [[root]]
  const seen = new Set([root])
  for (let level = levels[0]; level.length > 0; level = levels.at(-1)!) {
    const found = await Promise.all(level.map((managed) => cascadedFrom(managed, time, reader)))
    const next = [...new Set(found.flat())].filter((managed) => !seen.has(managed))
    for (const managed of next) seen.add(managed)
    levels.push(next)
  }
  return levels.filter((level) => level.length > 0)
}

async function cascadedFrom(owner: ManagedEntity, time: number, reader: Reader): Promise<ManagedEntity[]> {
  const cascading = owner.mapped.relations.filter(
    ({ model, keyOf }) => model.onDelete === 'cascade' && keyOf === undefined,
  )
  const found = await Promise.all(cascading.map((strategy) => deletedMembers(owner, strategy, time, reader)))
  return found.flat()
}

async function deletedMembers(
  owner: ManagedEntity,
  strategy: RelationStrategy,
  time: number,
  reader: Reader,
): Promise<ManagedEntity[]> {
  const target = reader.entityModel(strategy.model.target)
  const keys = await keysOf(owner, strategy, reader)
  const before = new Set(keys.map((key) => reader.known(target.name, key)))
  const found = (await reader.find(target, keys)).filter((each) => each !== null) as ManagedEntity[]
  const isOne = (member: ManagedEntity): boolean =>
    (deletedAtOf(member) as Date | undefined)?.getTime() === time && belongsTo(member, owner, strategy, reader)
  reader.release(found.filter((member) => !before.has(member) && !isOne(member)))
  return found.filter(isOne)
}

async function keysOf(owner: ManagedEntity, strategy: RelationStrategy, reader: Reader): Promise<readonly KeyValue[]> {
  if (strategy.members !== undefined) return strategy.members.keys(owner, reader)
  const key = await strategy.targetKey!(owner, reader)
  return key === null ? [] : [key]
}

/** The child's own record decides whose child it is, where it names a parent. */
function belongsTo(member: ManagedEntity, owner: ManagedEntity, { model }: RelationStrategy, reader: Reader): boolean {
  const inverse = member.model.relations.find(({ name }) => name === model.inverse)
  if (inverse?.holds !== 'ref' || inverse.bin === undefined) return true
  const { key } = refStateOf(readProperty(member.entity, inverse.name) as object)
  return key !== null && userKeyId(key) === userKeyId(reader.keyOf(owner.entity, inverse.target)!)
}

export function notRestorable({ name: className, namespace, set }: EntityModel): SkeinError {
  return new SkeinError('SKEIN_2316', `${className} has no @DeletedAt: its deletes leave nothing behind.`, {
    className,
    namespace,
    set,
    fix: 'Declare @DeletedAt() deletedAt?: Date in the class.',
  })
}
