import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Reader } from '../../relations/contract/reader.js'
import { refStateOf } from '../../relations/state/state-of.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { deletedAtOf } from '../tracking/soft-deleted.js'

/** An end of a link record that is deleted softly. */
export interface DeletedEnd {
  readonly model: EntityModel
  readonly key: KeyValue
  readonly deletedAt: Date
}

/** Link records among the restored entities one of whose ends stays deleted, with that end: they come back with it. */
export async function deletedEndsOf(
  restored: readonly ManagedEntity[],
  reader: Reader,
): Promise<ReadonlyMap<ManagedEntity, DeletedEnd>> {
  const ends = restored.flatMap((link) => endsOf(link, reader).map((end) => ({ ...end, link })))
  const found = new Map<ManagedEntity, DeletedEnd>()
  await Promise.all(
    ends.map(async ({ link, model, key }) => {
      const isKnown = reader.known(model.name, key) !== undefined
      const [end] = (await reader.find(model, [key])) as (ManagedEntity | null)[]
      const deletedAt = end === null || restored.includes(end) ? undefined : (deletedAtOf(end) as Date | undefined)
      if (deletedAt !== undefined) found.set(link, { model: end!.model, key: keyOfEnd(end!, reader), deletedAt })
      if (end !== null && !isKnown) reader.release([end])
    }),
  )
  return found
}

const keyOfEnd = ({ model, key }: ManagedEntity, reader: Reader): KeyValue => reader.fromStored(model, key.key)

/** Ends of a link record whose class has soft deletes; none of other entities. */
function endsOf({ model, entity }: ManagedEntity, reader: Reader): { model: EntityModel; key: KeyValue }[] {
  const names = new Set(model.relations.flatMap((relation) => endNames(relation, reader)))
  return model.relations.flatMap(({ name, target }) => {
    const end = names.has(name) ? reader.entityModel(target) : undefined
    const key = end?.deletedAt === undefined ? null : refStateOf(readProperty(entity, name) as object).key
    return key === null ? [] : [{ model: end!, key }]
  })
}

/** Both references of a link record, as the collection of one end tells. */
function endNames({ name, holds, target, inverse }: RelationModel, reader: Reader): string[] {
  if (holds !== 'ref' || inverse === undefined) return []
  const { through } = reader.entityModel(target).relations.find((each) => each.name === inverse) ?? {}
  return through === undefined ? [] : [name, through.ref]
}
