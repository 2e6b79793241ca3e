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

/** Time to live that was asked for last; a loop, because every write asks and `findLast` would cost it a closure. */
export function lastTtl(options: readonly WriteOptions[]): Ttl | undefined {
  for (let i = options.length - 1; i >= 0; i--) if (options[i].ttl !== undefined) return options[i].ttl
  return undefined
}

/** Changes that handles have recorded and no flush has sent yet, in their order. */
export function recordedChanges({
  writeOptions,
}: {
  readonly writeOptions: readonly WriteOptions[] | undefined
}): readonly Change[] {
  if (writeOptions === undefined) return NONE
  let changes: Change[] | undefined
  for (const { change } of writeOptions) {
    if (change === undefined) continue
    // A literal has room for one and no more: most records are changed once.
    if (changes === undefined) changes = [change]
    else changes.push(change)
  }
  return changes ?? NONE
}

const NONE: readonly never[] = Object.freeze([])
