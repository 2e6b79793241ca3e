import type { ManagedEntity } from '../../tracking/managed-entity.js'

/** True when a flush would send something for the entity. */
export function isDirty(managed: ManagedEntity): boolean {
  if (managed.state !== 'stored') return managed.state !== 'gone'
  const { contributors } = managed.mapped
  for (let i = 0; i < contributors.length; i++) if (contributors[i].hasChanges(managed)) return true
  return false
}
