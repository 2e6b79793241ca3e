import type { Ttl } from '../../plan/command.js'
import type { Change } from '../../records/change.js'
import type { ManagedEntity } from './managed-entity.js'

/** What one call has asked of the next write of an entity, besides storing what has changed in it. */
export interface WriteOptions {
  /** The time to live that the record is to get. */
  readonly ttl?: Ttl
  /** All of the entity is to be stored, whatever is there. */
  readonly overwrite?: boolean
  /** A change that a handle has recorded. */
  readonly change?: Change
}

/** Notes the wish; what is returned takes it back. */
export function addWriteOptions(managed: ManagedEntity, wish: WriteOptions): () => void {
  managed.writeOptions = managed.writeOptions === undefined ? [wish] : [...managed.writeOptions, wish]
  return () => clearWriteOptions(managed, [wish])
}

/** These were granted or forgotten; others may have been added since. */
export function clearWriteOptions(managed: ManagedEntity, done: readonly WriteOptions[] | undefined): void {
  if (done === undefined || managed.writeOptions === undefined) return
  const left = managed.writeOptions.filter((wish) => !done.includes(wish))
  managed.writeOptions = left.length === 0 ? undefined : left
}

/** Changes that handles have recorded and no flush has sent yet, in their order. */
export function recordedChanges({ writeOptions }: Pick<ManagedEntity, 'writeOptions'>): readonly Change[] {
  return writeOptions === undefined ? NONE : writeOptions.flatMap(({ change }) => change ?? [])
}

const NONE: readonly never[] = Object.freeze([])
