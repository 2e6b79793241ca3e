import { TENANT, type KeyValue, type Tenant } from '../../keys/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { binExists, or } from '../../plan/expression.js'
import { query } from '../../plan/query-command.js'
import type { Driver } from '../../driver/driver.js'
import { splitAccess } from '../../driver/split-access.js'
import type { Bins } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { GrowingMembers } from '../../relations/contract/growing-members.js'
import { finishDelete } from './finish-delete.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { SessionContext } from '../context/session-context.js'
import { sweepWithoutTenant } from '../context/session-errors.js'
import type { DrainOptions } from '../context/option-types.js'

interface SweepOptions extends DrainOptions {
  readonly tenant?: Tenant
}

/** Number of deletes and moves of members that were finished. */
interface Swept {
  readonly deletes: number
  readonly moves: number
}

/** Finishes deletes of a class and moves of members that were cut off; says how many. */
export async function sweepClass(
  mapped: MappedClass,
  driver: Driver,
  newContext: (tenant: Tenant | undefined) => SessionContext,
  options: SweepOptions,
): Promise<Swept> {
  const { name: entity, namespace, set } = mapped.model
  const { signal, step, onProgress, tenant } = options
  if (tenant === undefined && isTenantUnknown(mapped)) throw sweepWithoutTenant(mapped)
  const stores = mapped.kinds.flatMap(({ relations }) =>
    relations.flatMap(({ growing, store }) => growing ?? store?.growing ?? []),
  )
  const wanted = [...mapped.codec.binsOf([]), DELETING_BIN, ...stores.flatMap(({ schemeBins }) => schemeBins)]
  const isUnfinished = [DELETING_BIN, ...stores.map(({ moveBin }) => moveBin)].map(binExists)
  const filter = isUnfinished.length === 1 ? isUnfinished[0] : or(...isUnfinished)
  const command = query({ entity, namespace, set, bins: [...new Set(wanted)], filter })
  let deletes = 0
  let moves = 0
  for await (const records of driver.query(command, { signal })) {
    for (const record of records) {
      const found = foundKey(mapped, record, tenant)
      if (found === undefined) continue
      if (!(DELETING_BIN in record.bins)) {
        moves += await finishMoves(stores, found.record, record.bins, driver)
        continue
      }
      const context = newContext(tenant ?? tenantIn(mapped, found.key))
      if (await finishDelete(mapped, found.record, context, { signal, step, onProgress })) deletes++
    }
  }
  return { deletes, moves }
}

async function finishMoves(
  stores: readonly GrowingMembers[],
  key: RecordKey,
  bins: Bins,
  driver: Driver,
): Promise<number> {
  let count = 0
  for (const store of stores) {
    store.learn(key, bins)
    if (store.isUnsettled(key)) {
      await store.finish(key, splitAccess(driver))
      count++
    }
  }
  return count
}

/** A record does not tell its tenant where that only stands in front of the key. */
const isTenantUnknown = ({ model: { key } }: MappedClass): boolean => key.tenant && !key.properties.includes(TENANT)

function tenantIn({ model, codec }: MappedClass, key: KeyValue): Tenant | undefined {
  return model.key.tenant ? (codec.key.scheme.parts(key)[TENANT] as Tenant) : undefined
}
