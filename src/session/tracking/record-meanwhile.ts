import type { Snapshot } from '../../codec/index.js'
import { isOfWrite } from './doubt.js'
import type { ManagedEntity } from './managed-entity.js'
import type { SentWrite } from './sent-write.js'

/** The write that what a handle changes now comes after: on its way, or in doubt. */
function writeBefore({ sending, doubt }: ManagedEntity): SentWrite | undefined {
  return sending ?? (doubt !== undefined && isOfWrite(doubt) ? doubt.write : undefined)
}

/** Prepares a property for a change that is recorded; returns what its unsent changes are compared with. */
export function beforeRecording(managed: ManagedEntity, property: string): Snapshot {
  const write = isSharded(managed, property) ? undefined : writeBefore(managed)
  if (write?.knows(property) !== true) return managed.snapshot!
  write.recordSent(property)
  return write.sent
}

/** Makes every snapshot that the entity may have next show the property as it is now: all of its changes are recorded. */
export function acceptRecorded(managed: ManagedEntity, property: string): void {
  const { entity, snapshot, mapped, sending, doubt } = managed
  const inDoubt = doubt !== undefined && isOfWrite(doubt) ? doubt.write : undefined
  mapped.codec.acceptChange(entity, snapshot!, property)
  if (isSharded(managed, property)) return
  for (const write of [sending, inDoubt])
    if (write !== undefined) mapped.codec.acceptChange(entity, write.sent, property)
}

/** A sharded counter is written to its companions, which move its snapshot by what they add. */
const isSharded = ({ mapped }: ManagedEntity, property: string): boolean =>
  mapped.shards?.has(mapped.binOf(property)!) === true
