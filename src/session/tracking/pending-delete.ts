import type { Outcome } from '../../plan/outcome.js'
import { recordId } from '../../plan/record-key.js'
import type { ManagedEntity } from './managed-entity.js'
import type { RunResult } from '../flush/execute/execute-stages.js'
import type { ChangeSet } from '../flush/collect/change-set.js'

/**
 * Marks an entity for deletes that are under way. When the last of them was refused, the mark goes again, so that no later flush
 * deletes what a caller was told stays; `remove`, a save or a refresh meanwhile end it.
 */
export class PendingDelete {
  readonly #wasKnown: boolean
  #calls = 0

  private constructor(wasKnown: boolean) {
    this.#wasKnown = wasKnown
  }

  /** Of one that `remove` has marked for the next flush, undefined: it stays marked. */
  static of(managed: ManagedEntity, wasKnown: boolean, wasMarked: boolean): PendingDelete | undefined {
    if (!wasMarked && managed.state === 'removed') managed.deleteMark = new PendingDelete(wasKnown)
    const mark = managed.deleteMark
    if (mark !== undefined) mark.#calls++
    return mark
  }

  /** One of the deletes has failed. */
  end(managed: ManagedEntity, isRefused: boolean): void {
    if (--this.#calls > 0 || !isRefused || managed.deleteMark !== this) return
    if (this.#wasKnown) managed.keep()
    else managed.home.remove(managed)
  }
}

/** After a failure: what was written may have been a part of each delete that is not done, unless its own condition forbade it. */
export function noteBegun({ removed }: ChangeSet, { outcomes, failed }: RunResult): void {
  if (!outcomes.some(isWritten)) return
  const forbidden = new Set(failed.filter(isGuarded).map(({ command }) => recordId(command.key)))
  for (const managed of removed) {
    if (managed.state !== 'removed' || managed.mapped.standsAlone) continue
    managed.isDeleteBegun ||= !forbidden.has(recordId(managed.key))
  }
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
const isGuarded = ({ reason }: Outcome): boolean => reason === 'guard'
