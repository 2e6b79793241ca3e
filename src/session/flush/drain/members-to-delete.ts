import type { KeyValue } from '../../../keys/index.js'
import type { Drain } from '../../../relations/contract/drain.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { findInClasses } from '../../mapping/several-classes.js'
import type { SessionParts } from '../session-parts.js'

/** Members that are to be deleted; their own relations are looked after as in any delete. */
export async function membersOf(
  { target, only, isForGood = false }: Drain,
  keys: readonly KeyValue[],
  { context, entities, loads }: SessionParts,
): Promise<readonly ManagedEntity[]> {
  const found = await findInClasses(context.classes, target, keys, async (mapped, own) => {
    const loaded = await loads.find(
      mapped,
      own,
      isForGood && mapped.model.deletedAt !== undefined ? { deleted: 'include' } : undefined,
    )
    // A member that is marked itself loads as gone, and has to be finished.
    const gone = own.filter((_, i) => loaded[i] === null).map((key) => mapped.recordKeyOf(key, context.identity.tenant))
    const cutOff = gone.length === 0 ? [] : await loads.cutOff(mapped, gone)
    let at = 0
    return loaded.map((member) => member ?? cutOff[at++] ?? null)
  })
  const members = found.filter((member) => member !== null)
  for (const { entity } of members)
    entities.remove(entity, { ignoresVersion: true, purges: isForGood, orphanGuard: only })
  return members
}
