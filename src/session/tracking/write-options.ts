import type { Ttl } from '../../plan/command.js'
import type { Change } from '../../records/change.js'

/** Options of one call for the next write of an entity, besides storing what has changed in it. */
export interface WriteOptions {
  /** The time to live that the record is to get. */
  readonly ttl?: Ttl
  /** All of the entity is to be stored, whatever is there. */
  readonly overwrite?: boolean
  /** A change that a handle has recorded. */
  readonly change?: Change
}

/** Changes that handles have recorded and no flush has sent yet, in their order. */
export function recordedChanges({
  writeOptions,
}: {
  readonly writeOptions: readonly WriteOptions[] | undefined
}): readonly Change[] {
  if (writeOptions === undefined) return NONE
  const changes: Change[] = []
  for (const { change } of writeOptions) if (change !== undefined) changes.push(change)
  return changes
}

const NONE: readonly never[] = Object.freeze([])
