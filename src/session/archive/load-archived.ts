import type { Tenant } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { SessionContext } from '../context/session-context.js'
import type { KeyInput, LoadOptions } from '../context/session-types.js'
import { newParts } from '../flush/session-parts.js'
import { IdentityMap } from '../tracking/identity-map.js'
import { leadTo } from '../load/check-paths.js'
import { unmanagedRead } from '../load/unmanaged-read.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { archiveOf, noteArchived } from './archived.js'
import { findWhole, type FindIn } from './find-whole.js'

const isArchivable = ({ archive }: EntityModel): boolean => archive !== undefined

/** Entities from the archive, or from wherever they are, in the order of the keys; those from the archive, no session manages. */
export async function findFrom<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput<T>[],
  { from, with: paths, only, deleted, signal }: LoadOptions<T>,
  context: SessionContext,
  findHot: FindIn<T>,
): Promise<(T | null)[]> {
  const { classes, driver, identity } = context
  // A record of a class without an archive may lead to archived ones.
  if (from === 'any' && mapped.model.archive === undefined && leadTo(isArchivable, mapped, paths ?? [], classes))
    return findWith(mapped, keys, { with: paths, only, deleted, signal }, context, false)
  const namespace = archiveOf(mapped)
  const tenant: Tenant | undefined = identity.tenant
  const findCold = async (wanted: readonly KeyInput<T>[]): Promise<(T | null)[]> => {
    if (paths !== undefined && paths.length > 0)
      return findWith(mapped, wanted, { with: paths, only, deleted, signal }, context, true)
    const found = await unmanagedRead(mapped, wanted, classes, driver, { only, deleted, signal, tenant, namespace })
    for (const each of found) if (each !== null) noteArchived(each)
    return found
  }
  const hot = { namespace: mapped.model.namespace, find: findHot }
  const cold = { namespace, find: findCold }
  // A record in neither place may have been brought back between the two reads.
  return findWhole(mapped, keys, context, from === 'archive' ? [cold] : [hot, cold, hot], signal)
}

/** Entities with what they lead to, wherever that is, read by sessions of their own that do not keep them. */
async function findWith<T extends object>(
  { model }: MappedClass,
  keys: readonly KeyInput<T>[],
  options: LoadOptions<T>,
  context: SessionContext,
  isArchived: boolean,
): Promise<(T | null)[]> {
  const [outside, archive] = [context.classes, context.classes.archived].map((classes) => unkept(context, classes))
  const [near, far] = isArchived ? [archive, outside] : [outside, archive]
  const elsewhere: SessionContext['elsewhere'] = (name, missing, along, deleted) => {
    const mapped = far.classes.of(name)
    const records = missing.map((key) => mapped.recordKeyOf(key, far.identity.tenant))
    return newParts(far).loads.byKey.find(mapped, records, along, { deleted })
  }
  try {
    const { loads } = newParts({ ...near, elsewhere })
    const found = await loads.find(near.classes.of(model.name), keys, options)
    for (const { entity } of archive.identity.filter((each) => each.model.archive !== undefined)) noteArchived(entity)
    return found.map((managed) => (managed === null ? null : (managed.entity as T)))
  } finally {
    near.identity.close()
    far.identity.close()
  }
}

/** Makes a session of its own for what it reads. */
function unkept(context: SessionContext, classes: MappedClasses): SessionContext {
  const { driver, activity, reading, tick, transactions, validate } = context
  const identity = new IdentityMap(classes, context.identity.tenant)
  return { classes, identity, driver, activity, reading, tick, transactions, validate, transaction: undefined }
}
