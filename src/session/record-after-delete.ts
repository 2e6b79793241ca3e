import type { Hydrator } from './load/hydrator.js'
import { noteChange } from './record-access.js'
import type { IdentityMap } from './tracking/identity-map.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { recordedChanges } from './tracking/write-options.js'

/** False for an entity that could not take the changes over if its delete is refused: of its record nothing is known. */
export const mayBeChangedAfter = ({ stored, deleteIntent }: ManagedEntity): boolean =>
  stored !== undefined || deleteIntent?.pending?.wasKnown === false

/** Makes the record that handles change while the entity is being deleted; the session has it once the entity is gone. */
export function recordAfter(deleted: ManagedEntity, identity: IdentityMap, hydrator: Hydrator): ManagedEntity {
  const managed = hydrator.makeUnread(deleted.mapped, deleted.key)
  identity.follow(deleted, {
    managed,
    takeOver(kept) {
      if (managed.createsRecord && kept.stored !== undefined) kept.learn(kept.stored.creating())
      for (const change of recordedChanges(managed)) noteChange(kept, change)
    },
  })
  return managed
}
