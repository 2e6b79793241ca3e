import type { Snapshot } from '../../codec/index.js'
import type { Change } from '../../records/change.js'
import { toBeDeleted } from '../../records/handle-errors.js'
import { isOfWrite } from './doubt.js'
import type { ManagedEntity } from './managed-entity.js'
import type { SentWrite } from './sent-write.js'
import type { WriteOptions } from './write-options.js'

/** The write that a handle's change must come after: one under way, or in doubt. A sharded counter is written to companions instead. */
function writeBefore(managed: ManagedEntity, property: string): SentWrite | undefined {
  const { sending, doubt } = managed
  if (isSharded(managed, property)) return undefined
  return sending ?? (doubt !== undefined && isOfWrite(doubt) ? doubt.write : undefined)
}

/** True where changes of the property cannot be part of the write that creates the record, because that may be stored already. */
export const isBeingCreated = (managed: ManagedEntity, property: string): boolean =>
  managed.state === 'new' && writeBefore(managed, property) !== undefined

/** Throws where the delete would drop a change: the entity is to be deleted, or its record is by its key. */
export function checkStays({ state, home, mapped, model, key }: ManagedEntity, property: string): void {
  if (state === 'removed' || home.isLeaving(mapped, key.key)) throw toBeDeleted(model, key.key, property)
}

/** Throws for members of a record whose delete is under way: an entity that stays after all could not take their changes over. */
export function checkAfterDelete(managed: ManagedEntity, property: string): void {
  if (managed.home.isNext(managed)) throw toBeDeleted(managed.model, managed.key.key, property)
}

/** Turns what was changed in a property into recorded changes, before a handle changes it: compared after that, an increment would become a put. */
export function recordUnsent(managed: ManagedEntity, property: string): void {
  const write = writeBefore(managed, property)
  const isAfter = write?.knows(property) === true
  const since = changesSince(managed, property, isAfter ? write.sent : managed.snapshot!)
  if (isAfter) write.recordSent(property, since)
  for (const option of since) managed.addWriteOptions(option)
}

/** Differences from a snapshot of the entity, as changes to record. */
export function changesSince(managed: ManagedEntity, property: string, snapshot: Snapshot): readonly WriteOptions[] {
  const { entity, mapped, loaded } = managed
  if (!mapped.codec.isChanged(entity, snapshot, property)) return []
  return mapped.codec
    .changeOf(entity, snapshot, property, loaded)
    .map((operation) => recorded(property, operation as Change['operation']))
}

/** An operation whose effect the property shows already. */
export const recorded = (property: string, operation: Change['operation']): WriteOptions => ({
  change: { property, operation, isShown: true, apply: (value) => value },
})

/** Makes every snapshot that the entity may have next show the property as it is now: all of its changes are recorded. */
export function acceptRecorded(managed: ManagedEntity, property: string): void {
  const { entity, snapshot, mapped, sending, doubt } = managed
  if (snapshot !== undefined) mapped.codec.acceptChange(entity, snapshot, property)
  if (isSharded(managed, property)) return
  const inDoubt = doubt !== undefined && isOfWrite(doubt) ? doubt.write : undefined
  for (const write of [sending, inDoubt])
    if (write !== undefined) mapped.codec.acceptChange(entity, write.sent, property)
}

/** A sharded counter is written to its companions, which move its snapshot by what they add. */
const isSharded = ({ mapped }: ManagedEntity, property: string): boolean =>
  mapped.shards?.has(mapped.binOf(property)!) === true
