import { type KeyValue, tagKey } from '../../keys/index.js'
import type { Collection, Ref } from '../../model/related.js'
import type { StoredMember } from './member-store.js'
import type { Reader } from './reader.js'
import type { Tracked } from './tracked.js'
import { COLLECTION, REF, untag, type EntityModel } from '../../model/index.js'
import { recordKey, type RecordKey, type UserKey } from '../../plan/record-key.js'

export { COLLECTION, REF }

/** The other end of a link: an entity, or the key of one that is not at hand. */
export type Member = object | KeyValue

export function isEntity(member: Member | null | undefined): member is object {
  return typeof member === 'object' && member !== null && !(member instanceof Uint8Array)
}

export function isRef(value: unknown): value is Ref<object> {
  return typeof value === 'object' && value !== null && REF in value
}

export function isCollection(value: unknown): value is Collection<object> {
  return typeof value === 'object' && value !== null && COLLECTION in value
}

/** True when the entity has no record yet, and has to be stored before anything can point to it. */
export function isNew(entity: object, reader: Reader): boolean {
  const tracked = reader.tracked(entity)
  return tracked === undefined ? !reader.isDetached(entity) : tracked.state === 'new'
}

/** True when the record is certainly not there yet: one that is upserted may be. */
export const isCreation = ({ state, overwrite }: Tracked): boolean => state === 'new' && overwrite !== true

/** Tells how the same flush writes the record of an owner, for changes of its members. */
export const writtenAs = (
  owner: Tracked | undefined,
): Pick<StoredMember, 'isOwnerNew' | 'isOwnerUpserted' | 'isOwnerMade'> => ({
  isOwnerNew: owner !== undefined && isCreation(owner),
  isOwnerUpserted: owner !== undefined && owner.state === 'new' && owner.overwrite === true,
  ...(owner?.createsRecord === true && { isOwnerMade: true }),
})

/** True when the record is about to be created under a key that no other session can know. */
export const isUnknown = (tracked: Tracked): boolean => isCreation(tracked) && tracked.key.isReused !== true

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

/** The class and the key that a reference of a part leads to; a value that names none of several classes is shown as it is. */
export function pointedTo(target: EntityModel, held: KeyValue): { readonly className: string; readonly key: KeyValue } {
  const found = target.several && untag(target, held, 'kind')
  return found === undefined ? { className: target.name, key: held } : { className: found.model.name, key: found.key }
}

/** No record is stored under it. */
const NO_KEY = ''

/** The class of a record that a relation leads to. */
export function modelAt(target: EntityModel, { namespace, set }: RecordKey): EntityModel {
  return target.several?.find((each) => each.set === set && each.namespace === namespace) ?? target
}
