import { tagKey } from '../../keys/index.js'
import { untag, type EntityModel } from '../../model/index.js'
import { recordKey, type RecordKey, type UserKey } from '../../plan/record-key.js'

/** The value that a reference stores for a record: its key, and with it the set where the reference leads to several classes. */
export function storedRef({ several }: { readonly several?: readonly unknown[] }, to: RecordKey): UserKey {
  return several === undefined ? to.key : tagKey(to.set, to.key)
}

/** The record that a stored reference leads to; of several classes, a value that names none of them leads to no record. */
export function recordOfRef(target: EntityModel, stored: UserKey): RecordKey {
  if (target.several === undefined) return recordKey(target.namespace, target.set, stored)
  const found = untag(target, stored, 'storedKind')
  return found === undefined
    ? recordKey(target.namespace, target.set, NO_KEY)
    : recordKey(found.model.namespace, found.model.set, found.key)
}

/** No record is stored under it. */
const NO_KEY = ''

/** The class of a record that a relation leads to. */
export function modelAt(target: EntityModel, { namespace, set }: RecordKey): EntityModel {
  return target.several?.find((each) => each.set === set && each.namespace === namespace) ?? target
}
