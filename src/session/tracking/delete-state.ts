import type { BinGuard } from '../../plan/command.js'
import type { PendingDelete } from './pending-delete.js'

/** What a session knows of the delete of one entity; most entities are never deleted, and have none. */
export class DeleteState {
  /** It takes the record whatever its version. */
  removeAny = false
  /** It is deleted as an orphan, and only while this holds of its record. */
  orphanGuard: BinGuard | undefined
  /** It finishes a delete that was cut off, and takes the record only while that is marked. */
  isFinishing = false
  /** Why it is marked to be deleted, unless that is left to the next flush. */
  deleteMark: PendingDelete | undefined
  /** How often its delete was asked for; a cascade that reaches it does not count. */
  marked = 0
  /** A part of it is done, such as references that are gone: it is to be finished. */
  isBegun = false
  /** Whether there was a record. */
  wasStored = false
}

/** Nobody writes to it. */
export const NO_DELETION: Readonly<DeleteState> = Object.freeze(new DeleteState())
