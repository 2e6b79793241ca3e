import { readProperty } from '../../codec/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { identityOf } from '../tracking/identity-map.js'

/**
 * The key that a record was asked for by is the truth: whoever wrote the record may have left out the bins of its key, or put
 * something else there.
 */
export function restoreKey(mapped: MappedClass, entity: object, { key }: RecordKey, tenant: Tenant | undefined): void {
  const { properties } = mapped.model.key
  if (properties.length === 1 && readProperty(entity, properties[0]) === key) return
  const asked = mapped.codec.key.scheme.fromStored(key, tenant)
  if (!isSame(mapped.codec.key.tryKeyOf(entity), asked)) mapped.codec.key.assign(entity, asked)
}

const isSame = (shown: KeyValue | null, asked: KeyValue): boolean =>
  shown !== null && identityOf(shown) === identityOf(asked)
