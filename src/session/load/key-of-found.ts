import type { SkeinError } from '../../errors/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
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
  const key = mapped.keyOfBins(found.bins)
  const record = ownRecord(mapped, key, tenant)
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

function ownRecord(mapped: MappedClass, key: KeyValue, tenant: Tenant | undefined): RecordKey | undefined {
  try {
    return mapped.recordKey(key, tenant)
  } catch (error) {
    if ((error as SkeinError).code === 'SKEIN_2104') return undefined
    throw error
  }
}
