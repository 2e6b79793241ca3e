import type { ManagedEntity } from '../tracking/managed-entity.js'

// By entity and not by error: a hook may throw anything, and the same error twice.
const written = new WeakSet<object>()

/** Notes that these are stored or deleted, although the call that did it is rejected: what comes after it has failed. */
export function noteWritten(...all: Iterable<ManagedEntity>[]): void {
  for (const members of all) for (const { entity } of members) written.add(entity)
}

/** True for an entity whose rejected save or delete has taken effect; asked right after it. */
export const isWritten = (entity: object): boolean => written.has(entity)
