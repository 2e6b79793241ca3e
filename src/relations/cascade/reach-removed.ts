import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'

/** Finds the entities under the keys that stay; those that the session deletes anyway join the cascade. */
export async function findAndReachLeaving(
  model: EntityModel,
  keys: readonly KeyValue[],
  reach: Cascade,
  reader: Reader,
): Promise<Tracked[]> {
  const found = await reader.find(model, keys)
  return keys.flatMap((key, i) => {
    const tracked = found[i]
    if (tracked !== null) return tracked
    const known = reader.known(model.name, key)
    if (known?.state === 'removed') reach.remove(known.entity)
    return []
  })
}
