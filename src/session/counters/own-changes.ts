import type { WriteOperation } from '../../plan/operation.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { WriteOptions } from '../tracking/write-options.js'

/** True when a change through its handle makes the record where it is missing. */
export const makesRoot = ({ createsRecord }: ManagedEntity): boolean => createsRecord

/** Changes that belong into the record itself: without what is added to sharded counters. */
export function ownChanges(
  { mapped: { shards } }: ManagedEntity,
  changes: readonly WriteOperation[],
): readonly WriteOperation[] {
  if (shards === undefined) return changes
  return changes.filter((operation) => !('bin' in operation && shards.has(operation.bin)))
}

/** Write options that a write of the record itself grants. */
export function ownOptions({ mapped: { shards }, writeOptions }: ManagedEntity): readonly WriteOptions[] | undefined {
  return writeOptions?.filter(({ change }) => change === undefined || shards?.has(change.operation.bin) !== true)
}
