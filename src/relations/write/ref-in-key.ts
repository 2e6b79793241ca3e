import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import { keyRefChanged, keyRefLost } from '../contract/relation-errors.js'

/** True when a reference is part of the key of its record: then it never holds anything but what that key says. */
export const isInKey = ({ key }: EntityModel, { name }: RelationModel): boolean => key.properties.includes(name)

/** Throws where the reference of a stored record shall hold another key, or none, than the key of that record says. */
export function keepInKey(
  model: EntityModel,
  relation: RelationModel,
  record: RecordKey,
  to: UserKey | null,
  reader: Reader,
): void {
  if (!isInKey(model, relation)) return
  const { key, said, held } = compare(model, relation, record, to, reader)
  if (held === null) throw keyRefLost(model, key, relation, said)
  if (userKeyId(said) !== userKeyId(held)) throw keyRefChanged(model, key, relation, held)
}

/** Throws where the reference would no longer hold this key, and the key of its record says that it does. */
export function keepHeld(
  model: EntityModel,
  relation: RelationModel,
  record: RecordKey,
  from: UserKey,
  reader: Reader,
): void {
  if (!isInKey(model, relation)) return
  const { key, said, held } = compare(model, relation, record, from, reader)
  if (userKeyId(said) === userKeyId(held!)) throw keyRefLost(model, key, relation, said)
}

interface Compared {
  readonly key: KeyValue
  readonly said: KeyValue
  readonly held: KeyValue | null
}

/** Reads the reference from the record's own key and from its stored bin, both as users see keys. */
function compare(
  model: EntityModel,
  { name, target }: RelationModel,
  record: RecordKey,
  stored: UserKey | null,
  reader: Reader,
): Compared {
  const key = reader.fromStored(model, record.key)
  const held = stored === null ? null : reader.fromStored(reader.entityModel(target), stored)
  return { key, said: reader.keyPart(model, key, name), held }
}
