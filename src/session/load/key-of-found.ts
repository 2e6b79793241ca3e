import type { SkeinError } from '../../errors/index.js'
import { companionKey, type KeyValue, type Tenant } from '../../keys/index.js'
import { COMPANION_ROOT_BIN, COMPANION_SHARD_BIN } from '../../model/index.js'
import type { FoundRecord } from '../../plan/outcome.js'
import { recordKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { digestOf } from '../context/digest.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** The key as people use it, and where its record lives. */
export interface FoundKey {
  readonly key: KeyValue
  readonly record: RecordKey
}

/** The key of a record that a query found; undefined for a record of another class of the set, or of another tenant. */
export function foundKey(mapped: MappedClass, found: FoundRecord, tenant: Tenant | undefined): FoundKey | undefined {
  const { discriminator, key: keyModel } = mapped.model
  if (discriminator?.subclasses.every(({ value }) => value !== found.bins[discriminator.bin])) return undefined
  const key = ofTenant(() => mapped.keyOfBins(found.bins, tenant))
  if (key === undefined) return undefined
  const record = ofTenant(() => mapped.recordKey(key, tenant))
  // A tenant that only stands in front of the key is in no bin.
  if (record !== undefined && keyModel.tenant && !digestOf(record).equals(found.digest)) return undefined
  return record && { key, record }
}

/** The key of the owner that a companion names; undefined for one of another tenant. */
export function ownerKey(mapped: MappedClass, stored: unknown, tenant: Tenant | undefined): FoundKey | undefined {
  if (stored === undefined || stored === null) return undefined
  const { model, codec } = mapped
  try {
    const key = codec.key.scheme.fromStored(stored as UserKey, tenant)
    return { key, record: recordKey(model.namespace, model.set, stored as UserKey) }
  } catch (error) {
    if ((error as SkeinError).code === 'SKEIN_2104') return undefined
    throw error
  }
}

/** Bins of a companion record that say whose it is and which of several. */
export const COMPANION_KEY_BINS = [COMPANION_ROOT_BIN, COMPANION_SHARD_BIN]

/** A companion record, and that of its owner. */
export interface Companion {
  readonly key: RecordKey
  readonly root: RecordKey
}

/** Undefined for a record of another tenant, and for one that says no owner. */
export function companionIn(
  { bins }: FoundRecord,
  set: string,
  { model, codec }: MappedClass,
  tenant: Tenant | undefined,
): Companion | undefined {
  const owner = bins[COMPANION_ROOT_BIN] as UserKey | undefined
  if (owner === undefined) return undefined
  try {
    codec.key.scheme.fromStored(owner, tenant)
  } catch {
    return undefined
  }
  const shard = bins[COMPANION_SHARD_BIN] as number | undefined
  const { namespace } = model
  return {
    key: recordKey(namespace, set, shard === undefined ? owner : companionKey(owner, shard)),
    root: recordKey(namespace, model.set, owner),
  }
}

/** Returns undefined for a record of another tenant. */
function ofTenant<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if ((error as SkeinError).code === 'SKEIN_2104') return undefined
    throw error
  }
}
