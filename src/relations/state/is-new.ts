import type { Reader } from '../contract/reader.js'

/** Whether the entity has no record yet, and has to be stored before anything can point to it. */
export function isNew(entity: object, reader: Reader): boolean {
  const tracked = reader.tracked(entity)
  return tracked === undefined ? !reader.isDetached(entity) : tracked.state === 'new'
}
