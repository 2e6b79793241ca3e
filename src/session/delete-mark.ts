import type { Outcome } from '../plan/outcome.js'
import { recordId } from '../plan/record-key.js'
import type { Managed } from './managed.js'
import type { RunResult } from './run-stages.js'
import type { Work } from './work.js'

/**
 * Marks an entity for deletes that are under way. When the last of them was refused, the mark goes again, so that no later flush
 * deletes what a caller was told stays; `remove`, a save or a refresh meanwhile end it.
 */
export class DeleteMark {
  readonly #wasKnown: boolean
  #calls = 0

  private constructor(wasKnown: boolean) {
    this.#wasKnown = wasKnown
  }

  /** Of one that `remove` has marked for the next flush, undefined: it stays marked. */
  static of(managed: Managed, wasKnown: boolean, wasMarked: boolean): DeleteMark | undefined {
    if (!wasMarked && managed.state === 'removed') managed.deleteMark = new DeleteMark(wasKnown)
    const mark = managed.deleteMark
    if (mark !== undefined) mark.#calls++
    return mark
  }

  /** One of the deletes has failed. */
  end(managed: Managed, isRefused: boolean): void {
    if (--this.#calls > 0 || !isRefused || managed.deleteMark !== this) return
    if (this.#wasKnown) managed.keep()
    else managed.home.remove(managed)
  }
}

/** After a failure: what was written may have been a part of each delete that is not done, unless its own condition forbade it. */
export function noteBegun({ removed }: Work, { outcomes, failed }: RunResult): void {
  if (!outcomes.some(isWritten)) return
  const forbidden = new Set(failed.filter(isGuarded).map(({ command }) => recordId(command.key)))
  for (const managed of removed) {
    if (managed.state !== 'removed' || managed.mapped.standsAlone) continue
    managed.isDeleteBegun ||= !forbidden.has(recordId(managed.key))
  }
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
const isGuarded = ({ reason }: Outcome): boolean => reason === 'guard'
