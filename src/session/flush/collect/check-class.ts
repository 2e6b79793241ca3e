import { readProperty } from '../../../codec/index.js'
import { goneBinsOf, isGoneBy } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import type { RelationStrategy } from '../../../relations/contract/relation-strategy.js'
import type { Reader } from '../../../relations/contract/reader.js'
import { collectionStateOf } from '../../../relations/state/state-of.js'
import { notOfClass } from '../../context/session-errors.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

/**
 * Throws for a record of another class whose members are to change by an entity that was not read. Members know their owner by its key alone,
 * which a record of another class of the set may have; what goes to the record itself is checked with the command.
 */
export async function checkClass(managed: ManagedEntity, reader: Reader): Promise<void> {
  if (!(await isOfClass(managed, reader))) throw notOfClass(managed)
}

/** True for a record that is there and of the class of its entity. */
export async function isOfClass({ model, key }: ManagedEntity, reader: Reader): Promise<boolean> {
  const [record] = await reader.read([read(model.name, key, goneBinsOf(model))])
  return record !== null && !isGoneBy(model, record.bins)
}

/** True where others than its own record would change, by a removal or in companions. One that the flush makes is checked where it is made, before they change. */
export function changesOthersUnread(managed: ManagedEntity): boolean {
  const { isUnread, model, mapped, createsRecord } = managed
  if (!isUnread || model.discriminator === undefined) return false
  return mapped.relations.some((strategy) =>
    strategy.model.companions === undefined || createsRecord
      ? removesMembers(managed, strategy)
      : strategy.hasChanges(managed),
  )
}

const removesMembers = ({ entity }: ManagedEntity, { model, parts }: RelationStrategy): boolean =>
  model.holds === 'collection' &&
  (parts === undefined || model.companions !== undefined) &&
  collectionStateOf(readProperty(entity, model.name) as object).removed.length > 0
