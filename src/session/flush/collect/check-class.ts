import { readProperty } from '../../../codec/index.js'
import { goneBinsOf, isGoneBy } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import type { Reader } from '../../../relations/contract/reader.js'
import { collectionStateOf } from '../../../relations/state/state-of.js'
import { notOfClass } from '../../context/session-errors.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

/**
 * Throws for a record of another class whose members are to be removed by an entity that was not read. Members know their owner by its key
 * alone, which a record of another class of the set may have; what is added is checked with the command that adds it.
 */
export async function checkClass(managed: ManagedEntity, reader: Reader): Promise<void> {
  const { model, key } = managed
  const [record] = await reader.read([read(model.name, key, goneBinsOf(model))])
  if (record === null || isGoneBy(model, record.bins)) throw notOfClass(managed)
}

/** True where others than its own record would change, by a removal. */
export function removesUnread({ isUnread, model, mapped, entity }: ManagedEntity): boolean {
  if (!isUnread || model.discriminator === undefined) return false
  return mapped.relations.some(
    ({ model: relation, parts }) =>
      relation.holds === 'collection' &&
      parts === undefined &&
      collectionStateOf(readProperty(entity, relation.name) as object).removed.length > 0,
  )
}
