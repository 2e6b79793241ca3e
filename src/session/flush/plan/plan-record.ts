import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { planInsert } from './insert.js'
import { planUpsert } from './upsert.js'
import { planDelete } from './delete.js'
import { planUpdate } from './update.js'
import type { PlannedRecord } from './record-write.js'

/** What has to be sent for the entity's own record; undefined when it is as stored. */
export function planRecord(managed: ManagedEntity, now: Date): PlannedRecord | undefined {
  if (managed.state === 'removed') return planDelete(managed)
  if (managed.overwrite) return planUpsert(managed, now)
  return managed.state === 'new' ? planInsert(managed, now) : planUpdate(managed, now)
}
