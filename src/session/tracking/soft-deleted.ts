import { readProperty } from '../../codec/index.js'
import type { DeletedMode } from '../../model/index.js'
import type { ManagedEntity } from './managed-entity.js'

/** When the entity was deleted softly, as it shows it; undefined where it was not. */
export function deletedAtOf({ model, entity }: ManagedEntity): unknown {
  return model.deletedAt === undefined ? undefined : (readProperty(entity, model.deletedAt) ?? undefined)
}

/** True where a call with that mode shows the entity. */
export function isEntityShown(managed: ManagedEntity, mode: DeletedMode | undefined): boolean {
  if (managed.model.deletedAt === undefined) return mode !== 'only'
  return mode === 'include' || (deletedAtOf(managed) !== undefined) === (mode === 'only')
}

/** True for an entity whose delete writes a bin and leaves the record. */
export const isSoftDelete = ({ model, deleteIntent }: ManagedEntity): boolean =>
  model.deletedAt !== undefined && deleteIntent?.purges !== true && deleteIntent?.resumes !== true
