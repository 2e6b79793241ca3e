import { checkTenant } from '../context/check-arguments.js'
import { TENANT, type KeyValue, type Tenant } from '../../keys/index.js'
import { deletedBinOf } from '../../model/index.js'
import { binEquals } from '../../plan/command.js'
import { and, bin, binExists, lt, value } from '../../plan/expression.js'
import type { RecordKey } from '../../plan/record-key.js'
import { query } from '../../plan/query-command.js'
import type { Driver } from '../../driver/driver.js'
import { checkNames, notValid, shown, type NamesOf } from '../../model/call-options.js'
import type { SessionContext } from '../context/session-context.js'
import { sweepWithoutTenant } from '../context/session-errors.js'
import { newParts } from '../flush/session-parts.js'
import type { DrainOptions } from '../context/option-types.js'
import { UnitOfWork } from '../flush/unit-of-work.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { deletedAtOf } from '../tracking/soft-deleted.js'
import { notRestorable } from './restore.js'
import { sweepClass } from './sweep.js'

/** Progress of a purge. */
export interface PurgeProgress {
  /** Records, or links, that are gone for good. */
  readonly purged: number
}

export interface PurgeOptions extends Omit<DrainOptions, 'onProgress'> {
  /** Only what was deleted before this. */
  readonly olderThan: Date
  /** The links of this relation that were ended, at both of their ends, instead of records; their attributes have a `@DeletedAt`. */
  readonly links?: string
  readonly tenant?: Tenant
  readonly onProgress?: (progress: PurgeProgress) => unknown
}

const PURGE: NamesOf<PurgeOptions & { outsideTransaction?: boolean }> = {
  olderThan: true,
  links: true,
  tenant: true,
  onProgress: true,
  signal: true,
  step: true,
  outsideTransaction: true,
}

export function checkPurgeOptions(mapped: MappedClass, options: PurgeOptions): void {
  if (mapped.model.deletedAt === undefined && options?.links === undefined) throw notRestorable(mapped.model)
  checkNames('purge()', options, PURGE)
  checkTenant(options.tenant)
  const { olderThan } = options
  if (!(olderThan instanceof Date) || Number.isNaN(olderThan.getTime()))
    throw notValid(
      `${shown(olderThan)} is not a valid value for the option olderThan.`,
      'Give a Date: what was deleted before it is purged.',
    )
}

/** Removes the records of a class for good that were deleted softly before a time; says how many. */
export async function purgeClass(
  mapped: MappedClass,
  driver: Driver,
  newContext: (tenant: Tenant | undefined) => SessionContext,
  { olderThan, tenant, onProgress, ...options }: PurgeOptions,
): Promise<number> {
  const { name: entity, namespace, set, key: keyModel } = mapped.model
  if (tenant === undefined && keyModel.tenant && !keyModel.properties.includes(TENANT)) throw sweepWithoutTenant(mapped)
  const name = deletedBinOf(mapped.model)!
  const filter = and(binExists(name), lt(bin('int', name), value(olderThan.getTime())))
  const command = query({ entity, namespace, set, bins: [...mapped.codec.binsOf([]), name], filter })
  // A purge that was cut off has left marked records, which load as gone even to this one.
  let { deletes: purged } = await sweepClass(mapped, driver, newContext, { ...options, tenant })
  for await (const records of driver.query(command, { signal: options.signal })) {
    const byTenant = new Map<Tenant | undefined, RecordKey[]>()
    for (const record of records) {
      const found = foundKey(mapped, record, tenant)
      if (found === undefined) continue
      const owner = tenant ?? tenantIn(mapped, found.key)
      byTenant.set(owner, [...(byTenant.get(owner) ?? []), found.record])
    }
    for (const [owner, keys] of byTenant) {
      purged += await purgeKeys(mapped, keys, newContext(owner), olderThan, options)
      await onProgress?.({ purged })
    }
  }
  return purged
}

/** Removes records in a session of their own, each only while it is still deleted. */
async function purgeKeys(
  mapped: MappedClass,
  keys: readonly RecordKey[],
  context: SessionContext,
  olderThan: Date,
  options: DrainOptions,
): Promise<number> {
  const parts = newParts(context)
  try {
    const found = await parts.loads.findWhere(mapped, keys, undefined, 'only')
    const old = found.filter((managed) => managed !== null && (deletedAtOf(managed) as Date) < olderThan)
    const pending = old.map((managed) => {
      const deletedAt = (deletedAtOf(managed!) as Date).getTime()
      const orphanGuard = binEquals(deletedBinOf(managed!.model)!, deletedAt)
      return parts.entities.removeNow(managed!.entity, { ignoresVersion: true, purges: true, orphanGuard })
    })
    await new UnitOfWork(parts).some(
      old.map((managed) => managed!),
      options,
    )
    return pending.filter((each) => each.takeWasStored()).length
  } finally {
    context.identity.close()
  }
}

function tenantIn({ model, codec }: MappedClass, key: KeyValue): Tenant | undefined {
  return model.key.tenant ? (codec.key.scheme.parts(key)[TENANT] as Tenant) : undefined
}
