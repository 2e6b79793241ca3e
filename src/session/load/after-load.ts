import { callHooks } from '../tracking/lifecycle-hooks.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { sessionClosed } from '../context/session-errors.js'

const running = new WeakMap<ManagedEntity, Promise<void>>()

/**
 * Runs AfterLoad of an entity that was just read; undefined where there is none. Nobody is given the entity before it has ended, and
 * after one that failed the session does not have it.
 */
export function runAfterLoad(managed: ManagedEntity): Promise<void> | undefined {
  if (managed.model.hooks.afterLoad.length === 0) return undefined
  const hook = run(managed)
  running.set(managed, hook)
  return hook
}

/** The AfterLoad of the entity that is under way; undefined when there is none. */
export const afterLoadOf = (managed: ManagedEntity): Promise<void> | undefined =>
  managed.model.hooks.afterLoad.length === 0 ? undefined : running.get(managed)

async function run(managed: ManagedEntity): Promise<void> {
  const { home } = managed
  try {
    await callHooks('afterLoad', [managed])
  } catch (error) {
    home.remove(managed)
    throw error
  } finally {
    running.delete(managed)
  }
  if (home.isClosed) throw sessionClosed()
  if (managed.state !== 'gone') home.announce(managed)
}
