import { remove, versionIs, type DeleteCommand } from '../plan/command.js'
import type { Settle } from '../plan/draft.js'
import type { Managed } from './managed.js'

/** The delete of a record; one with a version must not have changed since this session loaded it. */
export function planRemoval(managed: Managed): { command: DeleteCommand; settle: Settle } {
  const { model, key, version, removeAny } = managed
  const isGuarded = version !== undefined && !removeAny
  const guards = isGuarded ? [versionIs(managed.mapped.binOf(model.version)!, version)] : []
  return {
    command: remove(model.name, key, { guards }),
    settle({ state, reason }) {
      const isGone = state === 'written' || (state === 'notWritten' && reason === 'missing')
      if (!isGone) return false
      managed.wasStored = state === 'written'
      managed.home.remove(managed)
      return true
    },
  }
}
