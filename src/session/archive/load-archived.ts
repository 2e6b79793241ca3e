import type { Tenant } from '../../keys/index.js'
import { notValid } from '../../model/call-options.js'
import type { SessionContext } from '../context/session-context.js'
import type { KeyInput, LoadOptions } from '../context/session-types.js'
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
  if (from === 'archive' && paths !== undefined && paths.length > 0)
    throw notValid('The option with cannot be used with from.', 'Leave it out, or unarchive the entity first.')
  const { classes, driver, identity } = context
  const tenant: Tenant | undefined = identity.tenant
  const findCold = async (wanted: readonly KeyInput<T>[]): Promise<(T | null)[]> => {
    const found = await unmanagedRead(mapped, wanted, classes, driver, { only, deleted, signal, tenant, namespace })
    for (const each of found) if (each !== null) noteArchived(each)
    return found
  }
  if (from === 'archive') return findCold(keys)
  let found = await findHot(keys)
  found = await complete(found, keys, findCold)
  // What is in neither may have been brought back between the two reads.
  return complete(found, keys, findHot)
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
