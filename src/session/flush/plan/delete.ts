import { EntityGoneError } from '../../../errors/index.js'
import { deletedBinOf } from '../../../model/index.js'
import { type DeleteCommand, remove, whileThere, write, type WriteCommand } from '../../../plan/command.js'
import { addToBin, writeBin } from '../../../plan/operations.js'
import { isSoftDelete } from '../../tracking/soft-deleted.js'
import type { Outcome } from '../../../plan/outcome.js'
import { isOfWrite } from '../../tracking/doubt.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { PendingDelete } from '../../tracking/delete-intent.js'
import { isVersionAssigned, versionAssigned } from '../../tracking/assigned-values.js'
import type { PlannedRecord } from './record-write.js'

export function planDelete(managed: ManagedEntity, now: Date): RecordDelete {
  const { model, key, version, deleteGuards: guards, deleteIntent } = managed
  const isChecked = version !== undefined && deleteIntent?.ignoresVersion !== true
  if (isChecked && isVersionAssigned(managed)) throw versionAssigned(managed)
  const command = isSoftDelete(managed)
    ? softDelete(managed, now)
    : remove(model.name, key, { guards, durableDelete: model.durableDelete })
  return new RecordDelete(managed, command)
}

/** Writes when it was deleted, once: a record that was deleted before counts as gone. */
function softDelete({ model, mapped, key, deleteGuards }: ManagedEntity, now: Date): WriteCommand {
  const stamp = writeBin(deletedBinOf(model)!, now.getTime())
  const counted = model.version === undefined ? [] : [addToBin(mapped.binOf(model.version)!, 1)]
  const guards = [...deleteGuards, whileThere(model)]
  return write(model.name, key, [stamp, ...counted], { exists: 'mustExist', ttl: 'keep', guards })
}

/** No record was there to delete, or one that was deleted softly before. */
const wasGone = ({ command, reason, error }: Outcome): boolean =>
  reason === 'missing' || (command.kind === 'write' && error instanceof EntityGoneError)

class RecordDelete implements PlannedRecord {
  readonly command: DeleteCommand | WriteCommand
  readonly #managed: ManagedEntity
  /** Calls that have asked for it; a save may end them before it is settled. */
  readonly #pending: PendingDelete | undefined

  constructor(managed: ManagedEntity, command: DeleteCommand | WriteCommand) {
    this.#managed = managed
    this.#pending = managed.deleteIntent?.pending
    this.command = command
  }

  settle(outcome: Outcome): boolean {
    const { state } = outcome
    const managed = this.#managed
    if (state === 'inDoubt') this.#doubt()
    const isGone = state === 'written' || (state === 'notWritten' && wasGone(outcome))
    if (!isGone) return false
    const pending = this.#pending ?? managed.deleteIntent?.pending
    pending?.settled(state === 'written')
    // Saved again since it was sent: it stays in the session, as one that is not stored.
    if (managed.state === 'stored' || managed.state === 'new') managed.startAnew()
    else {
      managed.home.remove(managed)
      managed.forgetStored()
    }
    return true
  }

  /** An entity that is saved after all must know whether its record is still there. */
  #doubt(): void {
    const managed = this.#managed
    const { doubt } = managed
    const before = doubt === undefined || isOfWrite(doubt) ? doubt : doubt.before
    managed.putInDoubt({ command: this.command, before })
  }
}
