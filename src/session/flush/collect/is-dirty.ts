import { checkHolders } from '../../../relations/state/check-holders.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

/** True when a flush would send something for the entity. */
export function isDirty(managed: ManagedEntity): boolean {
  if (managed.state !== 'stored') return managed.state !== 'gone'
  const { contributors } = managed.mapped
  try {
    for (let i = 0; i < contributors.length; i++) if (contributors[i].hasChanges(managed)) return true
  } catch (error) {
    // Asked only now: of entities that nobody touched, most flushes have very many.
    checkHolders(managed.entity, managed.model)
    throw error
  }
  return false
}
