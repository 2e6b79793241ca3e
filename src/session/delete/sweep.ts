import { TENANT, type KeyValue, type Tenant } from '../../keys/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { binExists } from '../../plan/expression.js'
import { query } from '../../plan/query-command.js'
import type { Driver } from '../../driver/driver.js'
import { finishDelete } from './finish-delete.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { SessionContext } from '../context/session-context.js'
import { sweepWithoutTenant } from '../context/session-errors.js'
import type { DrainOptions } from '../context/option-types.js'

export interface SweepOptions extends DrainOptions {
  readonly tenant?: Tenant
}

/** Finishes deletes of a class that were cut off; says how many. */
export async function sweepClass(
  mapped: MappedClass,
  driver: Driver,
  newContext: (tenant: Tenant | undefined) => SessionContext,
  options: SweepOptions,
): Promise<number> {
  const { name: entity, namespace, set } = mapped.model
  const { signal, step, onProgress, tenant } = options
  if (tenant === undefined && isTenantUnknown(mapped)) throw sweepWithoutTenant(mapped)
  const wanted = [...mapped.codec.binsOf([]), DELETING_BIN]
  const command = query({ entity, namespace, set, bins: wanted, filter: binExists(DELETING_BIN) })
  let count = 0
  for await (const records of driver.query(command, { signal })) {
    for (const record of records) {
      const found = foundKey(mapped, record, tenant)
      if (found === undefined) continue
      const context = newContext(tenant ?? tenantIn(mapped, found.key))
      if (await finishDelete(mapped, found.record, context, { signal, step, onProgress })) count++
    }
  }
  return count
}

/** A record does not tell its tenant where that only stands in front of the key. */
const isTenantUnknown = ({ model: { key } }: MappedClass): boolean => key.tenant && !key.properties.includes(TENANT)

function tenantIn({ model, codec }: MappedClass, key: KeyValue): Tenant | undefined {
  return model.key.tenant ? (codec.key.scheme.parts(key)[TENANT] as Tenant) : undefined
}
