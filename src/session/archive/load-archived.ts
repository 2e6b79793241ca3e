import type { Tenant } from '../../keys/index.js'
import type { SessionContext } from '../context/session-context.js'
import type { KeyInput, LoadOptions } from '../context/session-types.js'
import { newParts } from '../flush/session-parts.js'
import { IdentityMap } from '../tracking/identity-map.js'
import { unmanagedRead } from '../load/unmanaged-read.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { archiveOf, noteArchived } from './archived.js'

type FindHot<T extends object> = (keys: readonly KeyInput<T>[]) => Promise<(T | null)[]>

/** Entities from the archive, or from wherever they are, in the order of the keys; those from the archive, no session manages. */
export async function findFrom<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput<T>[],
  { from, with: paths, only, deleted, signal }: LoadOptions<T>,
  context: SessionContext,
  findHot: FindHot<T>,
): Promise<(T | null)[]> {
  const namespace = archiveOf(mapped)
  const { classes, driver, identity } = context
  const tenant: Tenant | undefined = identity.tenant
  const findCold = async (wanted: readonly KeyInput<T>[]): Promise<(T | null)[]> => {
    if (paths !== undefined && paths.length > 0)
      return findWith(mapped, wanted, { with: paths, only, deleted, signal }, context)
    const found = await unmanagedRead(mapped, wanted, classes, driver, { only, deleted, signal, tenant, namespace })
    for (const each of found) if (each !== null) noteArchived(each)
    return found
  }
  if (from === 'archive') return findCold(keys)
  let found = await findHot(keys)
  found = await complete(found, keys, findCold)
  // A record in neither place may have been brought back between the two reads.
  return complete(found, keys, findHot)
}

/** Archived entities with what they lead to, read by a session of their own that does not keep them. */
async function findWith<T extends object>(
  { model }: MappedClass,
  keys: readonly KeyInput<T>[],
  options: LoadOptions<T>,
  context: SessionContext,
): Promise<(T | null)[]> {
  const classes = context.classes.archived
  const identity = new IdentityMap(classes, context.identity.tenant)
  const { activity, reading, tick, transactions, validate } = context
  const parts = { classes, identity, activity, reading, tick, transactions, validate, transaction: undefined }
  try {
    const { loads } = newParts({ ...parts, driver: context.driver })
    const found = await loads.find(classes.of(model.name), keys, options)
    for (const { entity } of identity.filter((each) => each.model.archive !== undefined)) noteArchived(entity)
    return found.map((managed) => (managed === null ? null : (managed.entity as T)))
  } finally {
    identity.close()
  }
}

async function complete<T extends object>(
  found: readonly (T | null)[],
  keys: readonly KeyInput<T>[],
  find: FindHot<T>,
): Promise<(T | null)[]> {
  const missing = keys.filter((_, i) => found[i] === null)
  if (missing.length === 0) return [...found]
  const others = (await find(missing))[Symbol.iterator]()
  return found.map((each) => each ?? (others.next().value as T | null))
}
