import type { Reader } from './reader.js'
import type { Tracked } from './tracked.js'

/** Whether the entity has no record yet, and has to be stored before anything can point to it. */
export function isNew(entity: object, reader: Reader): boolean {
  const tracked = reader.tracked(entity)
  return tracked === undefined ? !reader.isDetached(entity) : tracked.state === 'new'
}

/** True when the record is certainly not there yet: one that is upserted may be. */
export const isCreation = ({ state, overwrite }: Tracked): boolean => state === 'new' && overwrite !== true

/** True when the record is about to be created under a key that no other session can know. */
export const isUnknown = (tracked: Tracked): boolean => isCreation(tracked) && tracked.key.isReused !== true
