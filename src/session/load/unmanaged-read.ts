import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import type { DeletedOption } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { attachRelations } from '../../relations/attach.js'
import { restoreKey, isGone, readBins } from './hydrator.js'
import { checkDeleted, checkKeys, checkOnly, checkTenant } from '../context/check-arguments.js'
import { readTotals } from '../counters/read-totals.js'
import { eachWave, MOST_AT_ONCE } from './in-waves.js'
import { UnmanagedReader } from './unmanaged-reader.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { asRead, projectionOf } from '../mapping/projection.js'
import type { KeyInput, OnlyOf } from '../context/session-types.js'

export interface ReadOptions<T> extends DeletedOption {
  /** Read only these properties, or parts of them (and the key and version). */
  readonly only?: readonly OnlyOf<T>[]
  readonly tenant?: Tenant
  readonly signal?: AbortSignal
}

/** Options of a read in another namespace than that of the class. */
interface Placed {
  readonly namespace?: string
}

/** Plain instances that no session manages: no identity, no snapshot, nothing to flush. */
export async function unmanagedRead<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput[],
  classes: MappedClasses,
  driver: Driver,
  options: ReadOptions<T> & Placed = {},
): Promise<(T | null)[]> {
  checkKeys(keys)
  checkTenant(options.tenant)
  checkOnly(options.only)
  checkDeleted(mapped, options.deleted)
  const { tenant, signal } = options
  const projection = projectionOf(mapped, options.only)
  const { bins, operations } = projection
  const place = options.namespace === undefined ? {} : { namespace: options.namespace }
  const commands = keys.map((key) =>
    read(mapped.model.name, { ...mapped.recordKeyOf(key, tenant), ...place }, bins, operations),
  )
  const readWave = (some: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> =>
    readTotals(driver, mapped, some, projection.loaded, { signal })
  const isOne = commands.length <= MOST_AT_ONCE
  const records = await (isOne ? readWave(commands) : eachWave(commands, readWave, signal))
  const reader = new UnmanagedReader(classes, tenant)
  return records.map((found, i) => {
    if (isGone(found) || !mapped.shows(found.bins, options.deleted)) return null
    const record = asRead(found, projection, mapped)
    const entity = mapped.codec.hydrate(record.bins, projection.loaded, record) as T
    const own = mapped.model.discriminator === undefined ? mapped : classes.ofEntity(entity)
    if (own.relations.length > 0) unmanagedEntity(entity, own, commands[i].key, reader, record, projection)
    restoreKey(own, entity, commands[i].key, tenant)
    return entity
  })
}

/** Gives an entity what its record holds, as a session leaves one that it has detached: nobody can be asked for more. */
export function unmanagedEntity<T extends object>(
  entity: T,
  { model, relations }: MappedClass,
  key: RecordKey,
  reader: UnmanagedReader,
  record: StoredRecord,
  projection: Projection,
): T {
  const tracked = { entity, model, key, state: 'gone', isUnread: false, deleteGuards: [] } as const
  attachRelations(tracked, relations, reader, readBins(record, projection))
  return entity
}
