import type { KeyValue } from '../../../keys/index.js'
import type { Drain } from '../../../relations/contract/drain.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { SessionParts } from '../session-parts.js'

/** Members that are to be deleted; their own relations are looked after as in any delete. */
export async function membersOf(
  { target }: Drain,
  keys: readonly KeyValue[],
  { context, entities, loads }: SessionParts,
): Promise<readonly ManagedEntity[]> {
  const mapped = context.classes.of(target.name)
  const found = await loads.find(mapped, keys)
  // A member that is marked itself loads as gone, and has to be finished.
  const gone = keys.filter((_, i) => found[i] === null).map((key) => mapped.recordKeyOf(key, context.identity.tenant))
  const cutOff = gone.length === 0 ? [] : await loads.cutOff(mapped, gone)
  const members = [...found, ...cutOff].filter((member) => member != null)
  for (const { entity } of members) entities.remove(entity, { ignoresVersion: true })
  return members
}
