import { callHooks } from './hooks.js'
import type { Managed } from './managed.js'
import { sessionClosed } from './session-errors.js'

const arriving = new WeakMap<Managed, Promise<void>>()

/**
 * Runs AfterLoad of an entity that was just read; undefined where there is none. Nobody is given the entity before it has ended, and
 * after one that failed the session does not have it.
 */
export function arrive(managed: Managed): Promise<void> | undefined {
  if (managed.model.hooks.afterLoad.length === 0) return undefined
  const arrival = run(managed)
  arriving.set(managed, arrival)
  return arrival
}

/** The AfterLoad of the entity that is under way; undefined when there is none. */
export const arrivalOf = (managed: Managed): Promise<void> | undefined =>
  managed.model.hooks.afterLoad.length === 0 ? undefined : arriving.get(managed)

async function run(managed: Managed): Promise<void> {
  const { home } = managed
  try {
    await callHooks('afterLoad', [managed])
  } catch (error) {
    home.remove(managed)
    throw error
  } finally {
    arriving.delete(managed)
  }
  if (home.isClosed) throw sessionClosed()
  if (managed.state !== 'gone') home.announce(managed)
}
