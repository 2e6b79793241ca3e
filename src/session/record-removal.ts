import { remove, versionIs, type DeleteCommand } from '../plan/command.js'
import type { Outcome } from '../plan/outcome.js'
import type { Managed } from './managed.js'
import type { PlannedRecord } from './record-write.js'

/** The delete of a record; one with a version must not have changed since this session loaded it. */
export function planRemoval(managed: Managed): RecordRemoval {
  const { model, key, version, removeAny } = managed
  const isGuarded = version !== undefined && !removeAny
  const guards = isGuarded ? [versionIs(managed.mapped.binOf(model.version)!, version)] : undefined
  return new RecordRemoval(managed, remove(model.name, key, { guards }))
}

class RecordRemoval implements PlannedRecord {
  readonly command: DeleteCommand
  readonly #managed: Managed

  constructor(managed: Managed, command: DeleteCommand) {
    this.#managed = managed
    this.command = command
  }

  settle({ state, reason }: Outcome): boolean {
    const managed = this.#managed
    const isGone = state === 'written' || (state === 'notWritten' && reason === 'missing')
    if (!isGone) return false
    managed.wasStored = state === 'written'
    managed.home.remove(managed)
    return true
  }
}
