import type { Managed } from './managed.js'
import { planCreation } from './record-creation.js'
import { planOverwrite } from './record-overwrite.js'
import { planRemoval } from './record-removal.js'
import { planUpdate } from './record-update.js'
import type { PlannedRecord } from './record-write.js'

/** What has to be sent for the entity's own record; undefined when it is as stored. */
export function planRecord(managed: Managed, now: Date): PlannedRecord | undefined {
  if (managed.state === 'removed') return planRemoval(managed)
  if (managed.overwrite) return planOverwrite(managed, now)
  return managed.state === 'new' ? planCreation(managed, now) : planUpdate(managed, now)
}
