import { tagKey, type KeyValue, type Tenant } from '../keys/index.js'
import { untag, type EntityModel } from '../model/index.js'
import type { Codecs } from './codecs.js'

/** The key as people use it of one that a reference to the target stores. */
export function keyOfStoredRef(
  codecs: Codecs,
  target: EntityModel,
  stored: KeyValue,
  tenant: Tenant | undefined,
): KeyValue {
  if (target.several === undefined) return codecs.entity(target.name).key.scheme.fromStored(stored, tenant)
  const found = untag(target, stored, 'storedKind')
  // A value that another program has stored there is shown as it is.
  if (found === undefined) return stored
  const { key, model } = codecs.entity(found.model.name)
  return tagKey(model.set, key.scheme.fromStored(found.key, tenant))
}
